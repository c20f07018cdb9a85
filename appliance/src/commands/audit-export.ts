import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { currentSlug, exportLog, exportProof, type ExportResult, shardFolder } from "@resontech/audit/export";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import { auditdConfig } from "../first-boot/prepare.ts";
import type { PartContext } from "../parts/context.ts";

const NONCE = /^[0-9a-f]{64}$/;

export class ExportFailedError extends Error {
  readonly code = "audit_export_failed";
}

/**
 * Writes the shard that is written now as one ustar file for an auditor. The export is itself logged first, and what is written covers that leaf;
 * when the log can't take it, nothing is written.
 * @param nonce the auditor's 32 bytes in hex: the export carries them, so it is no older than they are
 * @throws ExportFailedError
 */
export async function exportAudit(context: PartContext, file: string, nonce?: string): Promise<ExportResult> {
  if (nonce !== undefined && !NONCE.test(nonce))
    throw new ExportFailedError("--nonce is 32 bytes as 64 hexadecimal digits in lower case");
  await using producer = await connectToLog(context);
  const draft = {
    type: "audit.export",
    op: randomUUID(),
    actor: { sub: "appliance", kind: "operator" },
    object: { kind: "log", id: context.config.appliance },
  } as const;
  const { index } = await producer.requested({ ...draft, ...(nonce === undefined ? {} : { detail: { nonce } }) });
  try {
    await producer.covered(index);
    const result = await exportLog({ logDir: await currentFolder(context), file: resolve(file), witnessedFor: index });
    await producer.outcome({
      ...draft,
      phase: "completed",
      detail: { size: result.size, bytes: result.bytes, bundle_sha256: result.sha256 },
    });
    return result;
  } catch (error) {
    await producer.outcome({ ...draft, phase: "failed", outcome: { code: "export_failed" } });
    throw new ExportFailedError(`the log could not be exported: ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Writes the proof of one entry of the shard that is written now, for somebody who is to see no other. Reading it is logged first.
 * @throws ExportFailedError
 */
export async function proveEntry(context: PartContext, index: number, file: string): Promise<{ file: string; index: number }> {
  if (!Number.isSafeInteger(index) || index < 0) throw new ExportFailedError("an entry is named by its number, from 0");
  await using producer = await connectToLog(context);
  await producer.fact({
    type: "audit.read",
    op: randomUUID(),
    actor: { sub: "appliance", kind: "operator" },
    object: { kind: "log", id: context.config.appliance },
    detail: { entries: 1 },
  });
  try {
    const proof = await exportProof(await currentFolder(context), index);
    writeFileSync(resolve(file), proof, { mode: 0o640 });
    return { file: resolve(file), index };
  } catch (error) {
    throw new ExportFailedError(`entry ${index} could not be proven: ${messageOf(error)}`, { cause: error });
  }
}

async function connectToLog({ layout }: PartContext): Promise<AuditProducer> {
  return connectProducer({ socketPath: layout.run("audit", "appliance", "sock"), boot: randomUUID() });
}

async function currentFolder(context: PartContext): Promise<string> {
  const { auditDir } = auditdConfig(context);
  const slug = await currentSlug(auditDir);
  if (slug === null) throw new Error("there is no log");
  return shardFolder(auditDir, slug);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
