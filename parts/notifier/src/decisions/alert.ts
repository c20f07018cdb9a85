import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { FiringAlert } from "@resontech/contracts/appliance-facts";

/** One alert that is in force, as Prometheus says it. */
export type Alert = {
  /** The same as long as its name and labels are. */
  id: string;
  name: string;
  severity: string;
  labels: Readonly<Record<string, string>>;
  summary: string;
  todo: string;
  /** Path below the documents. */
  runbook: string;
  /** Unix milliseconds. */
  since: number;
};

/** What became of an alert, for people. */
export type News = { status: "firing" | "resolved"; alert: Alert; at: number };

/** Labels that say the same of every alert here. */
const SILENT_LABELS = new Set(["alertname", "severity", "instance"]);
const MAX_TEXT = 1_000;

/** Reads an alert in Prometheus' own form; null for what is none. */
export function alertOf(value: {
  labels: Readonly<Record<string, string>>;
  annotations: Readonly<Record<string, string>>;
  activeAt: string;
}): Alert | null {
  const { labels, annotations } = value;
  const { alertname: name } = labels;
  if (name === undefined) return null;
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    id: createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 32),
    name,
    severity: labels["severity"] ?? "warning",
    labels: Object.fromEntries(
      sorted
        .filter(([label]) => !SILENT_LABELS.has(label))
        .map(([label, text]) => [label, oneLine(text)]),
    ),
    summary: oneLine(annotations["summary"] ?? name),
    todo: oneLine(annotations["todo"] ?? ""),
    runbook: oneLine(annotations["runbook"] ?? ""),
    since: Date.parse(value.activeAt) || 0,
  };
}

/** As the page of the appliance shows it. */
export function firingAlert({ name, severity, summary, todo, runbook, since }: Alert): FiringAlert {
  return {
    alert: name.slice(0, 128),
    severity: severity === "critical" ? "critical" : "warning",
    ...{ since: Math.round(since), summary, todo },
    runbook: basename(runbook, ".md").slice(0, 128) || "README",
  };
}

/** Takes out signs that could end a line, a header or a terminal's patience. */
export function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, " ").slice(0, MAX_TEXT);
}
