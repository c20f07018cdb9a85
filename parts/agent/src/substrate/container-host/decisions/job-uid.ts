import { createHash } from "node:crypto";
import type { UidRange } from "@resontech/contracts/uid-range";

/**
 * A user for a member: what it owns, may run and is counted for is its own. The search begins where its name says, so that a number is not
 * soon used again; null when all are taken.
 */
export function chooseUid(
  { from, to }: UidRange,
  name: string,
  taken: ReadonlySet<number>,
): number | null {
  const count = to - from + 1;
  const first = createHash("sha256").update(name).digest().readUInt32BE() % count;
  for (let step = 0; step < count; step += 1) {
    const uid = from + ((first + step) % count);
    if (!taken.has(uid)) return uid;
  }
  return null;
}
