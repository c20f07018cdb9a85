/** A deployment in one sentence. Pure. */
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import { isTerminal } from "@resontech/contracts/job-states";
import { countOf } from "../../ui/count-of.ts";
import { waitingSentence } from "../../ui/waiting-sentence.ts";

export function deploymentSentence({
  detail,
  replicas,
  startedAt,
}: Pick<DeploymentReply, "detail" | "replicas" | "startedAt">): string {
  const { state, waitingFor, desired, attempt } = detail;
  // A deployment that has ended keeps the draft that ended it.
  if (desired === "stop" && !isTerminal(state)) return "It was asked to stop, and takes no call.";
  const ready = replicas.filter(({ isReady }) => isReady).length;
  switch (state) {
    case "ACCEPTED":
    case "QUEUED":
    case "HELD":
      return waitingSentence(waitingFor) ?? "It waits for a worker.";
    case "RESERVED":
    case "PROVISIONING":
    case "STAGING":
      return (
        waitingSentence(waitingFor) ??
        "Its place is sure: image, scripts and weights are being fetched."
      );
    case "RUNNING":
      if (ready === 0) return "It runs, and no replica answers yet.";
      return `It answers on ${countOf(ready, "replica")}.`;
    case "PREEMPTING":
      return "It gives its place to a job of higher priority, and goes on later.";
    case "RECOVERING":
      return `Attempt ${attempt} was lost. It starts again.`;
    case "FINALIZING":
    case "STOPPING":
      return "Its replicas end.";
    case "SUCCEEDED":
      return "It has ended.";
    case "CANCELLED":
      return startedAt === null ? "It was stopped before it answered." : "It was stopped.";
    case "FAILED":
    case "EXPIRED":
    case "REJECTED":
      return "It ended without success. What to do stands below.";
  }
}
