/** The questions that auditors ask most, each as searches over a period. Pure. */
import type { Filters } from "./search-query.ts";

export type ReportName = "job" | "refused" | "exports" | "admin";

type Report = { title: string; queries: (job: string | null) => Filters[] };

const byType = (...types: readonly string[]) => types.map((type): Filters => ({ type }));

export const REPORTS: Readonly<Record<ReportName, Report>> = {
  job: {
    title: "who asked, ran, read and stopped a job, and how each ended",
    queries: (job) => [{ object: job ?? "" }],
  },
  refused: { title: "what was refused, to whom and why", queries: () => [{ outcome: "refused" }] },
  exports: {
    title: "what left the system: exports of the log, disclosures, outputs opened",
    queries: () => byType("audit.export", "privacy.disclose", "model.output.open", "audit.sink"),
  },
  admin: {
    title: "what administrators did: users, keys, nodes, parts, policies",
    queries: () => [
      { actor: "operator" },
      { actor: "appliance" },
      ...byType("iam.user.create", "iam.user.change", "iam.node.join", "key.revoke", "audit.policy", "audit.shard.open"),
    ],
  },
};

export function isReportName(text: string): text is ReportName {
  return Object.hasOwn(REPORTS, text);
}
