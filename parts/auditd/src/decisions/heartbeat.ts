import { createHash } from "node:crypto";
import { type EventDetail, MAX_HEARTBEAT_PRODUCERS } from "@resontech/contracts/audit-catalogue";
import type { Ledger } from "./ledger.ts";

/** Of the names of producers; the rest of the leaf has room beside them. */
const MAX_NAMED_BYTES = 8_192;

/**
 * Where every producer stands; of many of them a digest, which a reader of the log can compute as well.
 * @param away who should be connected and is not; null where nobody could be yet
 */
export function heartbeatOf(
  ledger: Pick<Ledger, "positions" | "openCount">,
  away: readonly string[] | null,
): EventDetail<"audit.heartbeat"> {
  const producers = ledger.positions();
  const rest = { open_operations: ledger.openCount, ...(away === null ? {} : { away: [...away] }) };
  const isShort =
    producers.length <= MAX_HEARTBEAT_PRODUCERS &&
    JSON.stringify(producers).length <= MAX_NAMED_BYTES;
  if (isShort) return { producers, ...rest };
  const digest = createHash("sha256");
  for (const { prod, boot, pseq } of producers) digest.update(`${prod} ${boot} ${pseq}\n`);
  return { vector: { producers: producers.length, sha256: digest.digest("hex") }, ...rest };
}
