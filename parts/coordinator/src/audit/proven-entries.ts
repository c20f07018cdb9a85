import type { AuditEventsReply, AuditProofsReply } from "@resontech/contracts/http-audit";
import type { AuditSearch, AuditView } from "./audit-search.ts";

/** Adds to each entry of a page what proves it. */
export async function proven(
  auditSearch: AuditSearch,
  { events, ...page }: AuditEventsReply,
  view: AuditView,
): Promise<AuditProofsReply> {
  const withProofs: AuditProofsReply["events"] = [];
  for (const row of events) {
    const { leafHash, proof } = await auditSearch.event(row.index, row.shard, view);
    withProofs.push({ ...row, leafHash, proof });
  }
  return { ...page, events: withProofs };
}
