import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import {
  asPage,
  asTerminalText,
  type CallsExport,
  exportCalls,
  exportLog,
  type ExportOptions,
  exportProof,
  type ExportResult,
  type LogShard,
  findLogShard,
  type LogPeriod,
  logShardsOf,
  type PrintedCheckpoint,
  printedCheckpoint,
  WHOLE,
} from "@resontech/audit/export";
import { evidenceShards, type EvidenceResult, writeEvidence } from "@resontech/audit-out/evidence";
import { type EventDetail, MAX_EXPORTED_SHARDS } from "@resontech/contracts/audit-catalogue";
import { readTime, TIME_FORMS } from "@resontech/contracts/read-time";
import { callFacts, JournalBatches } from "@resontech/inference-gateway/journal";
import { CALLS_FOLDER, inferenceGateway } from "@resontech/inference-gateway/part";
import type { DiscloseRequest, DisclosureEnd } from "@resontech/contracts/vault-control";
import { connectOperator, operated } from "../audit/operator-record.ts";
import type { PartContext } from "../parts/context.ts";
import { partFactsOf } from "../parts/part-facts-of.ts";
import { retentionOf } from "@resontech/vault/part";
import { linesOfVault, VaultRefusedError } from "../operator/ask-vault.ts";
import { requireAbsent } from "./require-absent.ts";
import { DisclosedLines } from "./disclosed-lines.ts";

const FRAMEWORK = /^[a-z0-9-]{1,32}$/;
const DEPLOYMENT = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const NO_NONCE = "--nonce is 32 bytes as 64 hexadecimal digits in lower case";
/** Entries that a pack draws of each shard. */
const [SAMPLE, MAX_SAMPLE] = [25, 500];
const NONCE = /^[0-9a-f]{64}$/;

/** The log was not exported; that it was asked for stands in the log. */
class ExportFailed extends Error {
  override readonly name = "ExportFailed";
  readonly code = "audit_export_failed";
}

export type ExportAuditOptions = {
  /** An earlier shard. @default the one that is written */
  shard?: string;
  /** The auditor's 32 bytes in hex: the export carries them, so it is no older than they are. */
  nonce?: string;
  /** Whose values are opened in it, for whom, and the signatures of those who agreed. */
  disclosure?: Disclosure;
};
export type Disclosure = Omit<DiscloseRequest, "verb" | "origin">;
export type AuditExport = ExportResult & { disclosed?: DisclosureEnd["end"] };

/**
 * Writes a shard as one ustar file for an auditor. The export is itself logged first, in the shard that is written now, and what is written of that one covers
 * the leaf; when the log can't take it, nothing is written.
 * @throws FileExistsError, ExportFailed, UnknownShardError, AuditUnavailable, VaultRefusedError
 */
export async function exportAudit(
  context: PartContext,
  file: string,
  { shard: slug, nonce, disclosure }: ExportAuditOptions = {},
): Promise<AuditExport> {
  if (nonce !== undefined && !NONCE.test(nonce)) throw new ExportFailed(NO_NONCE);
  requireAbsent(resolve(file));
  const shard = await shardOf(context, slug);
  if (nonce !== undefined && !shard.isWritten)
    throw new ExportFailed(
      `--nonce shows how old an export of the shard that is written is; ${shard.slug} is closed`,
    );
  const detail = {
    ...(nonce === undefined ? {} : { nonce }),
    ...(disclosure === undefined
      ? {}
      : { receiver: disclosure.receiver, approval: disclosure.approval.approval }),
  };
  return await logged(
    context,
    { action: "appliance audit export", shard, detail },
    (witnessedFor) =>
      write(context, { logDir: shard.logDir, file: resolve(file), witnessedFor }, disclosure),
    ({ disclosed, ...bundle }) => ({
      ...bundleDetail(bundle),
      ...(disclosed === undefined ? {} : { disclosed: disclosed.opened }),
    }),
  );
}

/** What of the log is meant. */
type Asked = {
  /** An earlier shard. @default the one that is written, or where a time is named, all that hold entries of it */
  shard?: string;
  /** As people write them: a day, a time, `30d`. */
  from?: string;
  to?: string;
};
export type EvidenceOptions = Asked & {
  /** The auditor's 32 bytes in hex, from which a sample is drawn. @default the appliance draws them */
  nonce?: string;
  /** Entries of each shard, 1 to 500. @default 25 */
  sample?: string;
};

/**
 * Writes what the log holds for the controls of a framework into a folder that is made, all of it or nothing. Logged like any export.
 * @throws ExportFailed, UnknownShardError, AuditUnavailable
 */
export async function exportEvidence(
  context: PartContext,
  framework: string,
  folder: string,
  { shard: slug, nonce = randomBytes(32).toString("hex"), sample, ...asked }: EvidenceOptions = {},
): Promise<EvidenceResult> {
  if (!FRAMEWORK.test(framework))
    throw new ExportFailed(
      "a framework is named in lower case letters: hipaa, soc2, gdpr, dora, ai-act",
    );
  if (!NONCE.test(nonce)) throw new ExportFailed(NO_NONCE);
  const count = sample === undefined ? SAMPLE : Number(sample);
  if (!Number.isSafeInteger(count) || count < 1 || count > MAX_SAMPLE)
    throw new ExportFailed(`--sample is 1 to ${MAX_SAMPLE}`);
  const period = periodOf(asked);
  const which = {
    ...(slug === undefined ? {} : { shard: slug }),
    ...(period === null ? {} : { period }),
  };
  const shards = await evidenceShards(logOf(context).auditDir, which);
  if (shards.length > MAX_EXPORTED_SHARDS)
    throw new ExportFailed(
      `a pack reads ${MAX_EXPORTED_SHARDS} shards at most, and ${shards.length} hold entries of that time: name a shorter one`,
    );
  const newest = shards.at(-1)!;
  const controlsFile = context.layout.release("app", "policies", "controls.json");
  const request = {
    ...{ framework, controlsFile, outFolder: resolve(folder), ...which },
    verifierFile: context.layout.release("app", "sov-verify.mjs"),
    sample: { nonce, count },
    settings: settingsOf(context),
  };
  return await logged(
    context,
    {
      action: "appliance audit evidence",
      shard: newest,
      detail: { framework, nonce, ...(period === null ? {} : detailOf(period)) },
    },
    (witnessedFor) => writeEvidence(logOf(context), { ...request, witnessedFor }),
    ({ shards: [first, ...more] }) =>
      more.length === 0
        ? bundleDetail(first!)
        : {
            shards: [first!, ...more].map(({ origin, size, sha256 }) => ({
              ...{ origin, size, bundle_sha256: sha256 },
            })),
          },
  );
}

/** Tells where the log lies, and by whose keys an auditor checks it. */
function logOf({ layout }: PartContext): { auditDir: string; policyFile: string } {
  const auditDir = layout.data("audit");
  return { auditDir, policyFile: join(auditDir, "audit.policy") };
}

function settingsOf(context: PartContext): [name: string, value: string][] {
  const { leavesYears, disclosuresMonths, anonymousMonths } = retentionOf(partFactsOf(context));
  return [
    ["leaves are kept", `${leavesYears} years`],
    ["personal values are kept", `${disclosuresMonths} months`],
    ["values of callers without a name are kept", `${anonymousMonths} months`],
  ];
}

/** Reads the period that the options name; null where they name no time. @throws ExportFailed */
function periodOf({ from, to }: { from?: string; to?: string }): LogPeriod | null {
  const nowMs = Date.now();
  const read = (edge: "from" | "to", text: string | undefined): string | null => {
    if (text === undefined) return null;
    const time = readTime(text, edge, nowMs);
    if (time === null)
      throw new ExportFailed(`--${edge} ${JSON.stringify(text)} is no time: write ${TIME_FORMS}`);
    return new Date(time.ms).toISOString();
  };
  const period = { from: read("from", from), to: read("to", to) };
  if (period.from !== null && period.to !== null && period.from >= period.to)
    throw new ExportFailed("--from is not before --to: no entry lies between them");
  return period.from === null && period.to === null ? null : period;
}

function detailOf({ from, to }: LogPeriod): EventDetail<"audit.export"> {
  return { ...(from === null ? {} : { from }), ...(to === null ? {} : { to }) };
}

function bundleDetail({ size, bytes, sha256 }: ExportResult): EventDetail<"audit.export"> {
  return { size, bytes, bundle_sha256: sha256 };
}

/** What is written covers the leaf that says that it was asked for, where that is in the same shard, and the outcome names what it is. */
async function logged<T>(
  context: PartContext,
  {
    action,
    shard,
    detail,
  }: { action: string; shard: LogShard; detail: EventDetail<"audit.export"> },
  exported: (witnessedFor: number | "all") => Promise<T>,
  told: (result: T) => EventDetail<"audit.export">,
): Promise<T> {
  await using producer = await connectOperator(context.layout);
  const operation = {
    type: "audit.export",
    action,
    object: objectOf(context, shard),
    detail,
  } as const;
  return await operated(producer, [operation], async (index) => {
    try {
      await producer.covered(index);
      const result = await exported(shard.isWritten ? index : "all");
      return { result, detail: told(result) };
    } catch (cause) {
      if (cause instanceof VaultRefusedError) throw cause;
      throw new ExportFailed(`the log could not be exported: ${messageOf(cause)}`, { cause });
    }
  });
}

async function write(
  context: PartContext,
  options: ExportOptions,
  disclosure: Disclosure | undefined,
): Promise<AuditExport> {
  if (disclosure === undefined) return await exportLog(options);
  const [origin = ""] = readFileSync(join(options.logDir, "checkpoint"), "utf8").split("\n", 1);
  const answer = linesOfVault(context.layout.run("vault", "sock"), {
    verb: "disclose",
    origin,
    ...disclosure,
  });
  try {
    const lines = await DisclosedLines.begin(origin, answer);
    const result = await exportLog({ ...options, disclose: (range) => lines.of(range) });
    return { ...result, ...(lines.end === null ? {} : { disclosed: lines.end }) };
  } finally {
    await answer.return(undefined);
  }
}

export type CallsOptions = Asked & {
  /** Calls of this one alone. */
  deployment?: string;
};

/**
 * Writes the journal of model calls of one shard as JSON, a line each, with the proofs that lead to the entries of their batches. Logged like any export.
 * @throws FileExistsError, ExportFailed, UnknownShardError, AuditUnavailable
 */
export async function exportModelCalls(
  context: PartContext,
  file: string,
  { shard: slug, deployment, ...asked }: CallsOptions = {},
): Promise<CallsExport> {
  if (deployment !== undefined && !DEPLOYMENT.test(deployment))
    throw new ExportFailed("--deployment is the id of one, such as job-7f3a");
  requireAbsent(resolve(file));
  const period = periodOf(asked);
  const shard = await shardOfCalls(context, slug, period);
  const batches = new JournalBatches(context.layout.data(inferenceGateway.name, CALLS_FOLDER));
  const ofDeployment = deployment === undefined ? {} : { deployment };
  return await logged(
    context,
    {
      action: "appliance audit calls",
      shard,
      detail: { ...ofDeployment, ...(period === null ? {} : detailOf(period)) },
    },
    () =>
      exportCalls({
        ...{ logDir: shard.logDir, file: resolve(file), period: period ?? WHOLE, ...ofDeployment },
        journal: { batch: (id, time) => batches.batch(id, time), facts: callFacts },
      }),
    (result) => ({ ...bundleDetail(result), calls: result.calls, ...ofDeployment }),
  );
}

/** A file of calls goes with one export, so it is about one shard. @throws ExportFailed, UnknownShardError */
async function shardOfCalls(
  context: PartContext,
  slug: string | undefined,
  period: LogPeriod | null,
): Promise<LogShard> {
  if (slug !== undefined || period === null) return await shardOf(context, slug);
  const [shard, ...more] = await logShardsOf(logOf(context).auditDir, period);
  if (more.length > 0)
    throw new ExportFailed(
      `calls are exported shard by shard, and ${[shard!, ...more].map((one) => one.slug).join(", ")} hold entries of that time: name one with --shard`,
    );
  return shard!;
}

/**
 * Writes the proof of one entry, for somebody who is to see no other. Reading it is logged first.
 * @param slug the shard that is written, unless said
 * @throws ExportFailed, UnknownShardError, AuditUnavailable
 */
export async function proveEntry(
  context: PartContext,
  index: number,
  file: string,
  slug?: string,
): Promise<{ file: string; shard: string; index: number }> {
  if (!Number.isSafeInteger(index) || index < 0)
    throw new ExportFailed("an entry is named by its number, from 0");
  requireAbsent(resolve(file));
  const shard = await shardOf(context, slug);
  await using producer = await connectOperator(context.layout);
  await producer.fact({
    ...({
      type: "audit.read",
      op: randomUUID(),
      action: "appliance audit prove",
      detail: { entries: 1 },
    } as const),
    actor: { sub: "appliance", kind: "operator" },
    object: objectOf(context, shard),
  });
  try {
    const proof = await exportProof(shard.logDir, index);
    writeFileSync(resolve(file), proof, { mode: 0o640, flag: "wx" });
    return { file: resolve(file), shard: shard.slug, index };
  } catch (cause) {
    throw new ExportFailed(`entry ${index} could not be proven: ${messageOf(cause)}`, { cause });
  }
}

/**
 * The newest checkpoint to be kept on paper: as a page in `file`, or for the terminal. It holds nothing of any entry.
 * @throws ExportFailed
 */
export async function printCheckpoint(
  context: PartContext,
  file?: string,
): Promise<string | PrintedCheckpoint> {
  const { policyFile } = logOf(context);
  if (file !== undefined) requireAbsent(resolve(file));
  try {
    const { logDir } = await shardOf(context);
    const note = readFileSync(join(logDir, "checkpoint"), "utf8");
    const checkpoint = printedCheckpoint(note, readFileSync(policyFile));
    if (file === undefined) return asTerminalText(checkpoint);
    writeFileSync(resolve(file), asPage(checkpoint, new Date().toISOString()), {
      mode: 0o644,
      flag: "wx",
    });
    return checkpoint;
  } catch (cause) {
    throw new ExportFailed(`the checkpoint could not be printed: ${messageOf(cause)}`, { cause });
  }
}

function shardOf(context: PartContext, slug?: string): Promise<LogShard> {
  return findLogShard(logOf(context).auditDir, slug);
}

/** Names the log as an entry's object: by its shard where that is an earlier one. */
function objectOf(
  { config }: PartContext,
  { slug, isWritten }: LogShard,
): { kind: "log"; id: string } {
  return { kind: "log", id: isWritten ? config.appliance : slug };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
