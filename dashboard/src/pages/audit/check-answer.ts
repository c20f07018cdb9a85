/** Checks an answer of the log, entry by entry, by the verifier's own code. The appliance serves this page, so that is no independent check. */
import type { ProofReport } from "@resontech/verifier/check-proof";
import type { FoundEntry } from "./found-export.ts";
import { entryKey } from "./linked-entries.ts";

export type CheckProof = (proof: string, policy: string | null) => Promise<ProofReport>;

/** @property size entries of the largest tree that a proof leads to */
export type CheckedShard = { shard: string; size: number };
export type AnswerReport = {
  count: number;
  /** Entries that do not stand in the log as the list shows them, and why. */
  failed: { entry: string; reason: string }[];
  shards: CheckedShard[];
  /** Whether a key that the auditor trusts signed: only a policy tells. */
  signature: "PASS" | "FAIL" | "SELF-ASSERTED";
  /** Why the signature fails. */
  signatureReason: string | null;
  /** Every entry from the oldest to the newest is in the answer: told of an answer without a filter alone. */
  isGapless: boolean;
};

/** So many proofs are checked before the page may paint. */
const AT_ONCE = 25;

/** @param onProgress told how many are checked; it may wait */
export async function checkAnswer(
  entries: readonly FoundEntry[],
  policy: string | null,
  check: CheckProof,
  onProgress: (checked: number) => Promise<void>,
): Promise<AnswerReport> {
  const failed: AnswerReport["failed"] = [];
  const sizes = new Map<string, number>();
  const seen = new Set<string>();
  let signature: AnswerReport["signature"] = policy === null ? "SELF-ASSERTED" : "PASS";
  let signatureReason: string | null = null;
  for (const [at, entry] of entries.entries()) {
    const report = await check(entry.proof, policy);
    const objection = seen.has(entryKey(entry)) ? "it is there twice" : objectionTo(entry, report);
    seen.add(entryKey(entry));
    if (objection !== null) failed.push({ entry: entryKey(entry), reason: objection });
    const { SIGNATURE } = report.verdicts;
    if (SIGNATURE.verdict !== "PASS" && signature === "PASS") {
      signature = "FAIL";
      signatureReason = SIGNATURE.reason;
    }
    const { shard } = entry;
    sizes.set(shard, Math.max(sizes.get(shard) ?? 0, report.checkpoint?.size ?? 0));
    if (at % AT_ONCE === 0) await onProgress(at);
  }
  await onProgress(entries.length);
  return {
    ...{ count: entries.length, failed, signature, signatureReason },
    shards: [...sizes].map(([shard, size]) => ({ shard, size })),
    isGapless: gaps(entries) === 0,
  };
}

/** Why an entry is not what the list says; null when it is. */
function objectionTo(entry: FoundEntry, report: ProofReport): string | null {
  if (report.refused !== null) return `its proof is none: ${report.refused}`;
  const { INTEGRITY } = report.verdicts;
  if (INTEGRITY.verdict !== "PASS") return INTEGRITY.reason;
  if (report.index !== entry.index) return `its proof is of entry ${report.index}`;
  const origin = report.checkpoint?.origin ?? "";
  if (!origin.endsWith(`/${entry.shard}`)) return `its proof is of the log ${origin}`;
  const leaf = JSON.parse(report.event ?? "{}") as Leaf;
  const differing = ROW_FIELDS.find(
    ([, rowValue, leafValue]) => rowValue(entry) !== leafValue(leaf),
  );
  return differing === undefined ? null : `the list says otherwise than the log: ${differing[0]}`;
}

type Leaf = {
  type?: string;
  phase?: string;
  op?: string;
  t_log?: string;
  prod?: string;
  actor?: { sub?: string };
  on_behalf_of?: string;
  object?: { kind?: string; id?: string };
  outcome?: { code?: string };
};

/** What a row of the list says, and where the leaf says it. */
const ROW_FIELDS: readonly (readonly [
  name: string,
  ofRow: (entry: FoundEntry) => string | null,
  ofLeaf: (leaf: Leaf) => string | null,
])[] = [
  ["what happened", ({ type }) => type, ({ type }) => type ?? null],
  ["its phase", ({ phase }) => phase, ({ phase }) => phase ?? null],
  ["its operation", ({ op }) => op, ({ op }) => op ?? null],
  ["when", ({ t_log }) => t_log, (leaf) => leaf.t_log ?? null],
  ["who wrote it", ({ prod }) => prod, ({ prod }) => prod ?? null],
  ["who", ({ sub }) => sub, ({ actor }) => actor?.sub ?? null],
  ["for whom", ({ onBehalfOf }) => onBehalfOf, (leaf) => leaf.on_behalf_of ?? null],
  [
    "to what",
    ({ kind, object }) => `${kind} ${object}`,
    ({ object }) => `${object?.kind} ${object?.id}`,
  ],
  ["its outcome", ({ outcome }) => outcome, ({ outcome }) => outcome?.code ?? null],
];

/** Entries that are missing between neighbours of one shard. */
function gaps(entries: readonly FoundEntry[]): number {
  let missing = 0;
  for (const [at, { shard, index }] of entries.entries()) {
    const next = entries[at + 1];
    if (next?.shard === shard) missing += Math.abs(next.index - index) - 1;
  }
  return missing;
}

/** What was checked, in one sentence. */
export function answerSentence({ count, failed, shards }: AnswerReport): string {
  if (failed.length > 0)
    return `${failed.length} of ${count} entries do not stand in the log as this page shows them.`;
  const sizes = shards.map(({ shard, size }) => `${size.toLocaleString("en")} entries in ${shard}`);
  const which =
    count === 1 ? "The entry stands" : `All ${count.toLocaleString("en")} entries stand`;
  return `${which} in the log, and the log says what this page shows. The proofs lead to its signed head: ${sizes.join(", ")}.`;
}

/** What the reading of an answer says of entries that it lacks. @property listed entries of the list; null where it goes on */
export type ReadFacts = {
  isCut: boolean;
  behind: number;
  incomplete: readonly string[];
  listed: number | null;
};

/** `part`: what was checked is sound, and there may be more. */
export function answerVerdict(report: AnswerReport, read: ReadFacts): "good" | "part" | "bad" {
  if (report.failed.length > 0 || report.signature === "FAIL") return "bad";
  return lackWords(report, read) === null ? "good" : "part";
}

/** Why entries of the answer may not have been checked; null where all were. */
export function lackWords(
  { count }: AnswerReport,
  { isCut, behind, incomplete, listed }: ReadFacts,
): string | null {
  if (isCut) return "The answer is longer than what was checked: older entries are missing.";
  if (incomplete.length > 0)
    return `Entries of ${incomplete.join(", ")} may be missing: the appliance can't read them.`;
  if (behind > 0) return `The newest ${behind} entries of the log were not searched yet.`;
  return listed === null || listed === count
    ? null
    : `The list has ${listed} entries, and ${count} were checked: its period has moved on. Ask again.`;
}
