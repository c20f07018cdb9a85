/** The questions that auditors ask most, each as searches over a period. Pure. */
import type { Filters } from "./search-query.ts";

export type ReportName = "job" | "refused" | "exports" | "admin";

/** @property limits what no entry of the log shows of it; null where nothing is left out */
type Report = { title: string; queries: (job: string | null) => Filters[]; limits: string | null };

const byType = (...types: readonly string[]) => types.map((type): Filters => ({ type }));

export const REPORTS: Readonly<Record<ReportName, Report>> = {
  job: {
    title:
      "who asked for, ran, read and stopped a job, who read, wrote and deleted its objects, and how each ended",
    queries: (job) => [{ object: job ?? "" }, { objectsOf: job ?? "" }],
    limits: [
      "Objects of the job: all in its folder, its logs and rounds, and its inputs elsewhere, also what never was there or is gone.",
      "BY unproven: who it was had yet to be proven. The end of the operation says so, and `audit show ENTRY` who was claimed.",
      "Not shown: which object and which address, which the log keeps sealed. FROM is the same for the same address.",
      "  audit search --holds src.addr=10.0.0.0/24 finds what came from known addresses, --holds object.id=bucket/key one object.",
      "Not in the log: what code reads on its node. Listings name a bucket and no object: audit search --type data.bucket.list.",
      "Not found any more: objects whose values were erased or are past their retention.",
    ].join("\n"),
  },
  refused: {
    title: "what was refused, to whom and why",
    queries: () => [{ outcome: "refused" }],
    limits: null,
  },
  exports: {
    title: "what left the system: exports of the log, disclosures, outputs opened",
    queries: () => byType("audit.export", "privacy.disclose", "model.output.open", "audit.sink"),
    limits: null,
  },
  admin: {
    title: "what administrators did: users, keys, nodes, parts, policies",
    queries: () => [
      { actor: "operator" },
      { actor: "appliance" },
      ...byType(
        "iam.user.create",
        "iam.user.change",
        "iam.node.join",
        "key.revoke",
        "audit.policy",
        "audit.shard.open",
      ),
    ],
    limits: null,
  },
};

export function isReportName(text: string): text is ReportName {
  return Object.hasOwn(REPORTS, text);
}
