/** What an auditor takes away from a search: one archive with a table, each entry's proof, and the words that say what they are. */
import type { AuditProofsReply } from "@resontech/contracts/http-audit";
import { type Zippable, strToU8, zip } from "fflate";
import { csvOf } from "../../ui/csv.ts";

export type FoundEntry = AuditProofsReply["events"][number];

/** What holds for the whole search. */
export type FoundFacts = {
  askedBy: string;
  /** The appliance's own address. */
  origin: string;
  /** UTC. */
  askedAt: string;
  /** As they were set, by name. */
  filters: Readonly<Record<string, string>>;
  /** Whether entries that match were left out, because there were too many. */
  isCut: boolean;
  behind: number;
  incomplete: readonly string[];
};

const COLUMNS = [
  ...(["t_log", "shard", "index", "type", "phase", "sub", "onBehalfOf", "kind"] as const),
  ...(["object", "outcome", "handle", "source", "prod", "op", "leafHash"] as const),
] satisfies (keyof FoundEntry)[];

export function nameOfProof({ shard, index }: Pick<FoundEntry, "shard" | "index">): string {
  return `proofs/entry-${shard}-${index}.tlog-proof`;
}

/** A line for each entry, with the name of its proof. */
export function tableOf(entries: readonly FoundEntry[]): string {
  return csvOf(
    [...COLUMNS, "proof"],
    entries.map((entry) => [...COLUMNS.map((name) => entry[name]), nameOfProof(entry)]),
  );
}

export function wordsOf(facts: FoundFacts, count: number): string {
  const { filters, behind, incomplete, isCut } = facts;
  const asked = Object.entries(filters).map(([name, value]) => `  ${name} = ${value}`);
  return [
    "Entries of the audit log of a ResonTech appliance",
    "",
    `Appliance:  ${facts.origin}`,
    `Asked by:   ${facts.askedBy}`,
    `Asked at:   ${facts.askedAt} (UTC, by the clock of the asking computer)`,
    `Entries:    ${count}`,
    "Filters:",
    ...(asked.length === 0 ? ["  none"] : asked),
    "",
    "What this archive shows",
    "  entries.csv lists the entries, newest first. Times are UTC, by the clock of the appliance.",
    "  Each file in proofs/ holds one entry, and proves that the log has it.",
    "  Nothing here proves that the list is complete: a search can leave entries out.",
    "  For completeness ask the operator for the whole log: appliance audit export.",
    ...(isCut
      ? ["  The search found more entries than one archive takes: older ones are missing."]
      : []),
    ...(behind > 0 ? [`  The newest ${behind} entries of the log were not searched.`] : []),
    ...(incomplete.length > 0
      ? [`  Entries of ${incomplete.join(", ")} may be missing: the appliance can't read them.`]
      : []),
    "  People stand here as pseudonyms, u_... The operator can open them for you, on record.",
    "",
    "How to check it",
    "  1. Take your own copy of sov-verify.mjs, from the vendor, and audit.policy, from the ceremony.",
    "  2. node sov-verify.mjs proofs/FILE.tlog-proof --policy audit.policy",
    "  3. INTEGRITY and SIGNATURE must be PASS.",
    "",
  ].join("\r\n");
}

/** @returns bytes of a ZIP archive */
export async function archiveOf(
  entries: readonly FoundEntry[],
  facts: FoundFacts,
): Promise<Uint8Array<ArrayBuffer>> {
  const files: Zippable = {
    "READ-ME.txt": strToU8(wordsOf(facts, entries.length)),
    "entries.csv": strToU8(tableOf(entries)),
  };
  for (const entry of entries) files[nameOfProof(entry)] = strToU8(entry.proof);
  return await new Promise((resolve, reject) =>
    zip(files, (error, data) => (error === null ? resolve(data) : reject(error))),
  );
}
