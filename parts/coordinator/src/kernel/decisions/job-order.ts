/** Whether a job that is to start after others may be queued. Pure. */
import type { AfterWhen } from "@resontech/contracts/http-tasks";
import type { JobState } from "@resontech/contracts/job-states";

/** @property endedAs null while it is waited for; `gone` where nobody knows how it ended */
export type AwaitedJob = {
  job: string;
  name: string;
  when: AfterWhen;
  endedAs: JobState | "gone" | null;
};

/** @property by the first of those that ended otherwise than they were to */
type OrderVerdict =
  | { kind: "free" }
  | { kind: "waits"; why: string }
  | { kind: "broken"; by: AwaitedJob; message: string };

/** Of more jobs than these a sentence says the number alone. */
const MOST_NAMED = 3;

export function judgeOrder(awaited: readonly AwaitedJob[]): OrderVerdict {
  const broken = awaited.find(
    ({ when, endedAs }) => when === "succeeded" && endedAs !== null && endedAs !== "SUCCEEDED",
  );
  if (broken !== undefined) return { kind: "broken", by: broken, message: brokenWords(broken) };
  const open = awaited.filter(({ endedAs }) => endedAs === null);
  return open.length === 0 ? { kind: "free" } : { kind: "waits", why: waitingWords(open) };
}

/** Takes the stricter of two wishes for one job. */
export function mergeOrder<A extends { job: string; when: AfterWhen }>(after: readonly A[]): A[] {
  const merged = new Map<string, A>();
  for (const one of after) if (merged.get(one.job)?.when !== "succeeded") merged.set(one.job, one);
  return [...merged.values()];
}

function waitingWords(open: readonly AwaitedJob[]): string {
  const named = open
    .slice(0, MOST_NAMED)
    .map((one) => `${told(one)} to ${one.when === "succeeded" ? "succeed" : "end"}`);
  const more = open.length - named.length;
  if (more > 0) named.push(`${more} more ${more === 1 ? "job" : "jobs"}`);
  const last = named.pop()!;
  return `waits for ${named.length === 0 ? last : `${named.join(", ")} and ${last}`}`;
}

function brokenWords(broken: AwaitedJob): string {
  return `This job was to start after ${told(broken)} had succeeded, and that one ${endWord(broken.endedAs)}.`;
}

function told({ job, name }: AwaitedJob): string {
  return name === "" ? job : `${job} (${name})`;
}

function endWord(endedAs: AwaitedJob["endedAs"]): string {
  switch (endedAs) {
    case "CANCELLED":
      return "was cancelled";
    case "EXPIRED":
      return "ran out of its time";
    case "REJECTED":
      return "was rejected";
    case "gone":
      return "is no longer there";
    default:
      return "failed";
  }
}
