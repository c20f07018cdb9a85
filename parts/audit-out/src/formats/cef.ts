/**
 * CEF:0 (ArcSight Common Event Format). Header fields escape `\` and `|`; values of the extension `\`, `=` and line ends. Labelled custom fields carry what
 * CEF has no name for.
 */
import {
  type ExportedEvent,
  FORMAT_VERSION,
  PRODUCT,
  severityOf,
  VENDOR,
} from "./exported-event.ts";
import { type KeyValueFields, keyValueFields } from "./key-value-fields.ts";

export function cefLine(exported: ExportedEvent): string {
  const { event } = exported;
  const fields = keyValueFields(exported);
  const header = [
    "CEF:0",
    VENDOR,
    PRODUCT,
    FORMAT_VERSION,
    event.type,
    `${event.type} ${event.phase}`,
    String(severityOf(event)),
  ];
  const extension: [string, string][] = [
    ["rt", String(fields.atMs)],
    ["externalId", fields.id],
    ["suid", fields.actor],
    ["spriv", fields.roles],
    ["act", fields.action],
    ["outcome", fields.outcome],
    ["reason", fields.status],
    ["dvchost", fields.origin.split(".")[0] ?? ""],
    ["deviceProcessName", fields.prod],
    ["cat", event.phase],
    ["cnt", fields.count],
    ...labelled("flexString1", "approval", fields.approval),
    ...labelled("flexString2", "requester/approvers", peopleOf(fields)),
    ...labelled("cs1", "leafHash", fields.leafHash),
    ...labelled("cs2", "origin", fields.origin),
    ...labelled("cs3", "operation", fields.op),
    ...labelled("cs4", "object", `${fields.objectKind}/${fields.object}`),
    ...labelled("cs5", "onBehalfOf", fields.onBehalfOf),
    ...labelled("cs6", "actorKind", fields.actorKind),
    ...labelled("cn1", "logIndex", fields.index),
    ...labelled("cn2", "treeSize", fields.treeSize),
  ];
  const present = extension.filter(([, value]) => value !== "");
  return `${header.map((field, at) => (at === 0 ? field : escapeHeader(field))).join("|")}|${present.map(([key, value]) => `${key}=${escapeValue(value)}`).join(" ")}`;
}

/** Who asked for the approval, and who agreed. CEF takes no commitment as an address, so it has none. */
function peopleOf({ requester, approvers }: KeyValueFields): string {
  return requester === "" && approvers === "" ? "" : `${requester}/${approvers}`;
}

function labelled(key: string, label: string, value: string): [string, string][] {
  return value === ""
    ? []
    : [
        [key, value],
        [`${key}Label`, label],
      ];
}

/** A header field may not hold a line end at all: a space stands for it. */
function escapeHeader(text: string): string {
  return text.replace(/[\\|]/g, "\\$&").replace(/[\r\n]+/g, " ");
}

function escapeValue(text: string): string {
  return text.replace(/[\\=]/g, "\\$&").replaceAll("\r", "\\r").replaceAll("\n", "\\n");
}
