import { randomUUID } from "node:crypto";
import { resolve } from "node:path";
import { currentSlug, exportLog, shardFolder, type ExportResult } from "@resontech/audit/export";
import { connectProducer } from "@resontech/audit/producer";
import { auditdConfig } from "../first-boot/prepare.ts";
import type { PartContext } from "../parts/context.ts";

/**
 * Writes the log as one ustar file for an auditor. The export is itself logged first, and what is written covers that leaf; when the log
 * can't take it, nothing is written.
 */
export async function exportAudit(context: PartContext, file: string): Promise<ExportResult> {
  const { config, layout } = context;
  const { auditDir } = auditdConfig(context);
  await using producer = await connectProducer({ socketPath: layout.run("audit", "appliance", "sock"), boot: randomUUID() });
  const draft = {
    type: "audit.export",
    op: randomUUID(),
    actor: { sub: "appliance", kind: "operator" },
    object: { kind: "log", id: config.appliance },
  } as const;
  const { index } = await producer.requested(draft);
  try {
    await producer.covered(index);
    const slug = await currentSlug(auditDir);
    if (slug === null) throw new Error("there is no log");
    const result = await exportLog({ logDir: shardFolder(auditDir, slug), file: resolve(file) });
    await producer.outcome({
      ...draft,
      phase: "completed",
      detail: { size: result.size, bytes: result.bytes, bundle_sha256: result.sha256 },
    });
    return result;
  } catch (error) {
    await producer.outcome({ ...draft, phase: "failed", outcome: { code: "export_failed" } });
    throw new Error(`the log could not be exported: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
}
