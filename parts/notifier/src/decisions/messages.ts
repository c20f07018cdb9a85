/** News in the words of each kind of target. */
import { createHash } from "node:crypto";
import { type News, oneLine } from "./alert.ts";

export type Mail = { subject: string; text: string };
/** @property appliance how the appliance is named @property runbooksDir where its pages lie on its host */
export type Sender = { appliance: string; runbooksDir: string };

const MAX_SUBJECT = 200;

export function mailOf(news: readonly News[], dropped: number, sender: Sender): Mail {
  const { appliance } = sender;
  const [first] = news;
  const only = news.length === 1 && first !== undefined ? first : null;
  const subject =
    only === null
      ? `[${appliance}] ${count(news, "firing")} firing, ${count(news, "resolved")} resolved`
      : `[${appliance}] ${headOf(only)}: ${only.alert.summary}`;
  const parts = news.map((one) => textOf(one, sender));
  if (dropped > 0)
    parts.push(`${dropped} older messages were given up while this address took none.`);
  return { subject: oneLine(subject).slice(0, MAX_SUBJECT), text: `${parts.join("\n\n")}\n` };
}

export function webhookBody(
  news: readonly News[],
  dropped: number,
  sender: Sender,
  at: number,
): string {
  return JSON.stringify({
    ...{ version: 1, id: idOf(news), appliance: sender.appliance, at: instant(at), dropped },
    alerts: news.map(({ status, alert }) => ({
      ...{ status, id: alert.id, name: alert.name, severity: alert.severity, labels: alert.labels },
      ...{ since: instant(alert.since), summary: alert.summary, todo: alert.todo },
      runbook: runbookOf(alert.runbook, sender),
    })),
  });
}

/** RFC 5424, one message each. Facility 16, local use; critical, warning, or notice for what is over. */
export function syslogMessages(news: readonly News[], { appliance }: Sender): string[] {
  return news.map(({ status, alert, at }) => {
    const severity = status === "resolved" ? 5 : alert.severity === "critical" ? 2 : 4;
    const labels = Object.entries(alert.labels).map(
      ([name, value]) => ` ${name}=${JSON.stringify(value)}`,
    );
    const header = `<${16 * 8 + severity}>1 ${instant(at)} ${word(appliance, 255)} resontech-alerts - ${word(alert.name, 32)} -`;
    return `${header} status=${status} severity=${word(alert.severity, 32)}${labels.join("")} ${alert.summary}`;
  });
}

/** The same for the same news, so that who hears them twice can tell. */
export function idOf(news: readonly News[]): string {
  const what = news.map(({ status, alert, at }) => [status, alert.id, at]);
  return createHash("sha256").update(JSON.stringify(what)).digest("hex").slice(0, 32);
}

function textOf(news: News, sender: Sender): string {
  const { alert, status, at } = news;
  const when =
    status === "resolved" ? `over since ${instant(at)}` : `since ${instant(alert.since)}`;
  const lines = [`${headOf(news)}, ${when}`, `  ${alert.summary}`];
  if (status === "firing")
    lines.push(`  What to do: ${alert.todo}`, `  Runbook: ${runbookOf(alert.runbook, sender)}`);
  return lines.join("\n");
}

function headOf({ status, alert }: News): string {
  return `${status === "resolved" ? "resolved" : alert.severity.toUpperCase()} ${alert.name}`;
}

function runbookOf(path: string, { runbooksDir }: Sender): string {
  return `${runbooksDir}/${path.split("/").at(-1) ?? ""}`;
}

function count(news: readonly News[], status: News["status"]): number {
  return news.filter((one) => one.status === status).length;
}

function instant(ms: number): string {
  return new Date(ms).toISOString();
}

/** A field of a syslog header is printable ASCII without blanks, or `-`. */
function word(text: string, maxLength: number): string {
  return text.replace(/[^\x21-\x7e]/g, "_").slice(0, maxLength) || "-";
}
