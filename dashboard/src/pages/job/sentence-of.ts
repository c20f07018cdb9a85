/** A job in one sentence. Pure. */
import { isTerminal } from "@resontech/contracts/job-states";
import { madeWayWords } from "@resontech/contracts/made-way-words";
import type { DashboardJobWithWorkers } from "@resontech/contracts/http-tasks";
import { countOf } from "../../ui/count-of.ts";
import { waitingSentence } from "../../ui/waiting-sentence.ts";

export function sentenceOf({
  detail,
  madeWay,
  workers,
}: Pick<DashboardJobWithWorkers, "detail" | "madeWay" | "workers">): string {
  const { state, waitingFor, rounds, desired, stoppedBy, attempt } = detail;
  // A job that has ended keeps the draft that ended it.
  if (desired === "stop" && !isTerminal(state))
    return `${stoppedBy === null ? "It was asked" : `${stoppedBy} asked it`} to stop, and its members end.`;
  const sites = workers.filter(({ site }) => site !== null).length;
  const on = sites === 0 ? "" : ` on ${countOf(sites, "site")}`;
  switch (state) {
    case "ACCEPTED":
    case "QUEUED":
    case "HELD": {
      const why = waitingSentence(waitingFor) ?? "It waits for workers.";
      return madeWay === null ? why : `${madeWayWords(madeWay, false)} ${why}`;
    }
    case "RESERVED":
    case "PROVISIONING":
    case "STAGING":
      return (
        waitingSentence(waitingFor) ?? `Its place is sure${on}: images and data are being fetched.`
      );
    case "RUNNING": {
      const round =
        rounds.current === null
          ? ""
          : `, in round ${rounds.current}${rounds.total === null ? "" : ` of ${rounds.total}`}`;
      return `It runs${on}${round}.`;
    }
    case "PREEMPTING":
      return madeWay === null
        ? "It makes way for another job, and goes on later."
        : `${madeWayWords(madeWay, true)} ${detail.resumable ? "It ends the round that runs first, and goes on later." : "It begins anew later."}`;
    case "RECOVERING":
      return `Attempt ${attempt} was lost. It starts again${detail.resumable ? " from its last checkpoint" : ""}.`;
    case "FINALIZING":
      return "Training is over, and results are being stored.";
    case "STOPPING":
      return "Its members end.";
    case "SUCCEEDED":
      return "It finished, and its results are stored.";
    case "CANCELLED":
      return "It was cancelled.";
    case "FAILED":
    case "EXPIRED":
    case "REJECTED":
      return "It ended without success. What to do stands below.";
  }
}
