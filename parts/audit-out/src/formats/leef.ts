/**
 * LEEF 2.0 (QRadar) with the tab as its stated delimiter. LEEF has no escapes in values, so what would end one is written as two characters, `\t`, `\n`, `\r`,
 * and a backslash as two.
 */
import {
  type ExportedEvent,
  FORMAT_VERSION,
  PRODUCT,
  severityOf,
  VENDOR,
} from "./exported-event.ts";
import { keyValueFields } from "./key-value-fields.ts";

const DELIMITER = "\t";

export function leefLine(exported: ExportedEvent): string {
  const { event } = exported;
  const fields = keyValueFields(exported);
  const header = ["LEEF:2.0", VENDOR, PRODUCT, FORMAT_VERSION, event.type, "x09"];
  const attributes: [string, string][] = [
    ["devTime", event.t_log],
    ["devTimeFormat", "yyyy-MM-dd'T'HH:mm:ss.SSSX"],
    ["cat", event.phase],
    ["sev", String(Math.max(1, severityOf(event)))],
    ["usrName", fields.actor],
    ["role", fields.roles],
    ["resource", `${fields.objectKind}/${fields.object}`],
    ["action", fields.action],
    ["outcome", fields.outcome],
    ["status", fields.status],
    ["eventId", fields.id],
    ["operation", fields.op],
    ["onBehalfOf", fields.onBehalfOf],
    ["sourceCommitment", fields.source],
    ["approval", fields.approval],
    ["requester", fields.requester],
    ["approvers", fields.approvers],
    ["count", fields.count],
    ["actorKind", fields.actorKind],
    ["producer", fields.prod],
    ["logIndex", fields.index],
    ["leafHash", fields.leafHash],
    ["origin", fields.origin],
    ["treeSize", fields.treeSize],
  ];
  const present = attributes.filter(([, value]) => value !== "");
  return `${header.map(escapeHeader).join("|")}|${present.map(([key, value]) => `${key}=${escapeValue(value)}`).join(DELIMITER)}`;
}

function escapeHeader(text: string): string {
  return text.replaceAll("|", "_").replace(/[\t\r\n]+/g, " ");
}

function escapeValue(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll("\t", "\\t")
    .replaceAll("\r", "\\r")
    .replaceAll("\n", "\\n");
}
