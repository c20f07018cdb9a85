import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { AuditEvent } from "@resontech/contracts/audit-draft";
import { parseLeaf } from "../../src/format/event/leaf.ts";
import { LogReader } from "../../src/format/tree/log-reader.ts";

/** Every leaf of a stopped or running log that its checkpoint covers. */
export async function readLeaves(logDir: string): Promise<AuditEvent[]> {
  const size = Number(readFileSync(join(logDir, "checkpoint"), "utf8").split("\n")[1]);
  const reader = new LogReader(logDir);
  const leaves: AuditEvent[] = [];
  for (let first = 0; first < size; first += 256)
    for (const entry of await reader.readEntries(first / 256, Math.min(256, size - first)))
      leaves.push(parseLeaf(entry));
  return leaves;
}
