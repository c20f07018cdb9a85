/** Which entries of one answer belong together: what somebody set out to do, and how it ended. Pure. */
import type { AuditEventRow } from "@resontech/contracts/http-audit";

export type EntryKey = string;
export function entryKey({ shard, index }: Pick<AuditEventRow, "shard" | "index">): EntryKey {
  return `${shard}/${index}`;
}

const ENDINGS: ReadonlySet<string> = new Set(["completed", "failed", "denied"]);

/** @property outcome how an operation ended @property request what an outcome is of */
export type Linked = { outcome?: AuditEventRow; request?: AuditEventRow };

/** @returns for each entry what of the answer belongs to it */
export function linkedEntries(rows: readonly AuditEventRow[]): ReadonlyMap<EntryKey, Linked> {
  const requests = new Map<string, AuditEventRow>();
  const outcomes = new Map<string, AuditEventRow>();
  for (const row of rows) {
    if (row.phase === "requested") requests.set(row.op, row);
    if (ENDINGS.has(row.phase)) outcomes.set(row.op, row);
  }
  return new Map(
    rows.map((row) => {
      const outcome = row.phase === "requested" ? outcomes.get(row.op) : undefined;
      const request = ENDINGS.has(row.phase) ? requests.get(row.op) : undefined;
      return [
        entryKey(row),
        {
          ...(outcome === undefined ? {} : { outcome }),
          ...(request === undefined ? {} : { request }),
        },
      ];
    }),
  );
}
