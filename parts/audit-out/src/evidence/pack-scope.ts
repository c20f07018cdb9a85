/** What a pack is about, and what was found for it: the same for every form in which it is written. */
import type { QuestionId } from "@resontech/contracts/audit-questions";
import type { ExportResult } from "@resontech/audit/export";
import type { LogPeriod } from "@resontech/audit/export/log-period";
import type { Framework } from "./control-map.ts";
import type { BundleReport, SampleRequest } from "./verify-bundle.ts";

/** A shard of the log that a pack reads, as far as its bundle goes. */
export type PackShard = Pick<ExportResult, "origin" | "size" | "sha256"> & {
  slug: string;
  /** Of the bundle, in the folder of the pack. */
  file: string;
  /** Hex. */
  root: string;
  report: BundleReport;
};

/** What was drawn of each bundle: anybody can draw it again. */
export type PackSample = SampleRequest & {
  shards: { file: string; filter: string; population: number; drawn: number }[];
};

export type PackScope = {
  name: string;
  framework: Framework;
  /** Oldest first. */
  shards: readonly PackShard[];
  /** What was asked for. */
  period: LogPeriod;
  /** Of the first and of the last entry that was read within the period, by auditd's clock; empty where there is none. */
  from: string;
  to: string;
  /** Null where none was asked for. */
  sample: PackSample | null;
  /** What the appliance is set to: not out of the log. */
  settings: readonly (readonly [name: string, value: string])[];
};

/** Operations, counted by what became of them. What was refused, failed or is open is none of what was done. */
export type Counted = { count: number; refused: number; failed: number; open: number };

export type ControlFindings = Counted & {
  id: string;
  title: string;
  /** What no log of the appliance can show for it. */
  limits: string;
  /** Entries of the log that these operations are. */
  entries: number;
  /** Operations by the process that told them. */
  sources: Map<string, number>;
  /** As {@link placeText} writes them, in the order of their ends. */
  first: string | null;
  last: string | null;
};

/** Of the operations of the pack. */
export type QuestionFindings = Counted & { question: QuestionId; title: string };

/** Files of a pack that others point to, by their hashes. */
export type PackFile = { name: string; title: string; sha256: string };

/** `coordinator-gate 12, s3-front 3`, in order of name. */
export function sourcesText({ sources }: Pick<ControlFindings, "sources">): string {
  return [...sources]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([prod, count]) => `${prod} ${count}`)
    .join(", ");
}
