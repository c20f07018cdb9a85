/** One RFC 5424 message for each event. */
import { type ExportedEvent, severityOf } from "../../formats/exported-event.ts";

const APP_NAME = "audit";
const INFORMATIONAL = 6;
const NOTICE = 5;
const WARNING = 4;
const CRITICAL = 2;

export type SyslogOptions = {
  /** 0 to 23. */
  facility: number;
  enterpriseNumber: number;
  lineOf: (event: ExportedEvent) => string;
};

/** `PRI VERSION TIMESTAMP HOSTNAME APP-NAME PROCID MSGID [SD] MSG` */
export function syslogMessage(
  exported: ExportedEvent,
  { facility, enterpriseNumber, lineOf }: SyslogOptions,
): string {
  const { event, index, leafHash, origin } = exported;
  const data = Object.entries({ id: event.id, index: String(index), leaf: leafHash, origin })
    .map(([name, value]) => ` ${name}="${escapeParameter(value)}"`)
    .join("");
  const header = [
    `<${facility * 8 + syslogSeverity(exported)}>1`,
    event.t_log,
    printable(origin.split(".")[0] ?? "", 255),
    APP_NAME,
    printable(event.prod, 128),
    printable(event.type, 32),
  ];
  return `${header.join(" ")} [sov@${enterpriseNumber}${data}] ${lineOf(exported)}`;
}

function syslogSeverity({ event }: ExportedEvent): number {
  const grade = severityOf(event);
  if (grade >= 9) return CRITICAL;
  if (grade >= 6) return WARNING;
  return grade >= 5 ? NOTICE : INFORMATIONAL;
}

/** RFC 5424 §6.3.3: `"`, `\` and `]` are escaped. */
function escapeParameter(text: string): string {
  return text.replace(/["\\\]]/g, "\\$&").replace(/[\r\n]+/g, " ");
}

/** A field of the header is printable ASCII without spaces, or `-`. */
function printable(text: string, maxLength: number): string {
  return text.replace(/[^\x21-\x7e]/g, "_").slice(0, maxLength) || "-";
}
