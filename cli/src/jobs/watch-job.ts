import type { FeedMessage } from "@resontech/contracts/live-feed";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { isTerminal, type JobState } from "@resontech/contracts/job-states";
import { JOB_WORDS } from "@resontech/contracts/state-words";
import { followTopic } from "../live/follow-topic.ts";
import type { Settings } from "../settings.ts";
import { toldWithUnits } from "../size.ts";
import { readJob } from "./read-jobs.ts";
import { toldLine } from "./told-line.ts";

export type Watch = {
  /** A line for a person. */
  line: (text: string) => void;
  /** Each message as it came, for a script; null: for a person. */
  json: ((message: FeedMessage) => void) | null;
  /** Beside what is watched. */
  say: (text: string) => void;
};

/** Tells what happens in a job until it ends. Answers its last state. @throws CliError */
export async function watchJob(settings: Settings, id: string, watch: Watch): Promise<JobState> {
  const names = new Map<string, string>();
  const nameOf = (member: string) => names.get(member) ?? member;
  const read = async (): Promise<DashboardJobWithWorkers> => {
    const job = await readJob(settings, id);
    for (const { id: member, site, role } of job.workers) names.set(member, site ?? role);
    return job;
  };
  for await (const message of followTopic(settings, { kind: "job", job: id }, (why) =>
    watch.say(`not live: ${why}; trying again`),
  )) {
    watch.json?.(message);
    if (message.kind === "reset") {
      const { detail } = await read();
      if (watch.json === null)
        watch.line(
          [JOB_WORDS[detail.state], toldWithUnits(detail.waitingFor ?? detail.reason ?? "")]
            .filter(Boolean)
            .join(": "),
        );
      if (isTerminal(detail.state)) return detail.state;
      continue;
    }
    const { change } = message;
    if (change.kind === "member-added") names.set(change.member, change.site ?? change.role);
    const line = toldLine(message.at, change, nameOf);
    if (line !== null && watch.json === null) watch.line(line);
    if (change.kind === "job" && isTerminal(change.to)) return change.to;
  }
  throw new Error("the feed ended without an end of the job");
}
