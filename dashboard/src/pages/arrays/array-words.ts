/** How many jobs of an array stand where, in words. Pure. */
import type { ArrayListReply } from "@resontech/contracts/http-arrays";

type Counts = ArrayListReply["arrays"][number]["counts"];

/** `8 wait, 2 run, 88 finished, 2 did not finish`, without what there is none of. */
export function countsSentence({ waiting, running, succeeded, failed }: Counts): string {
  return [
    [waiting, waiting === 1 ? "waits" : "wait"] as const,
    [running, running === 1 ? "runs" : "run"] as const,
    [succeeded, "finished"] as const,
    [failed, "did not finish"] as const,
  ]
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
}

/** Names in the order in which they first come. */
export function namesIn(records: readonly Readonly<Record<string, unknown>>[]): string[] {
  return [...new Set(records.flatMap((one) => Object.keys(one)))];
}

/** As a number where it is one, so that 10 comes after 9. */
export function sortKeyOf(value: string | undefined): string | number | null {
  if (value === undefined) return null;
  const number = Number(value);
  return value.trim() === "" || Number.isNaN(number) ? value : number;
}
