import type { JobRow } from "@resontech/contracts/http-jobs";
import { isTerminal } from "@resontech/contracts/job-states";
import { JOB_WORDS } from "@resontech/contracts/state-words";
import { ask } from "../api/ask.ts";
import { useSession } from "../api/session.ts";
import { areNoticesOn, useNoticesOn } from "../live/job-notices.ts";
import { useTopic } from "../live/live.ts";

/** Of jobs that end at once, no more are looked for. */
const LOOKED_THROUGH = 50;

/** A notice of the browser when a job of the person's own ends, as long as a page of ours is open and somebody is signed in. */
export function useJobNotices(): void {
  const { user } = useSession();
  const isOn = useNoticesOn();
  const tell = async (ended: ReadonlySet<string>) => {
    // Whose a job is stands in the list alone.
    const { jobs } = await ask("GET", "/api/jobs", { query: { limit: LOOKED_THROUGH } });
    for (const job of jobs)
      if (ended.has(job.id) && job.owner === user.username && areNoticesOn()) show(job);
  };
  useTopic(
    isOn ? { kind: "jobs" } : null,
    (told) => {
      const ended = told.flatMap(({ change }) =>
        change.kind === "job" && isTerminal(change.to) ? [change.job] : [],
      );
      // A notice that does not come is no fault of the page: the lists are right.
      if (ended.length > 0) tell(new Set(ended)).catch(() => {});
    },
    () => {},
  );
}

function show({ id, name, state }: JobRow): void {
  // The tag lets two windows of the dashboard show one notice.
  const notice = new Notification(`${name}: ${JOB_WORDS[state]}`, { tag: id });
  notice.addEventListener("click", () => {
    window.focus();
    location.assign(`/dashboard/jobs/${id}`);
  });
}
