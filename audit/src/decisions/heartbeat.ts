import { createHash } from "node:crypto";
import { type EventDetail, MAX_HEARTBEAT_PRODUCERS } from "@resontech/contracts/audit-catalogue";
import type { Ledger } from "./ledger.ts";

/** Where every producer stands; of many of them a digest, which a reader of the log can compute as well. */
export function heartbeatOf(ledger: Pick<Ledger, "positions" | "openCount">): EventDetail<"audit.heartbeat"> {
  const producers = ledger.positions();
  if (producers.length <= MAX_HEARTBEAT_PRODUCERS) return { producers, open_operations: ledger.openCount };
  const digest = createHash("sha256");
  for (const { prod, boot, pseq } of producers) digest.update(`${prod} ${boot} ${pseq}\n`);
  return { vector: { producers: producers.length, sha256: digest.digest("hex") }, open_operations: ledger.openCount };
}
