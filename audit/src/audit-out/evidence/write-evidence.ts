/** Reads the newest shard from its first entry, and writes what it holds for a framework. */
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import { pino } from "pino";
import type { ExportResult } from "../../export/export-log.ts";
import { ConfigError } from "../config.ts";
import { LogFollower } from "../follow/log-follower.ts";
import { readFramework } from "./control-map.ts";
import { writeEvidencePack } from "./evidence-pack.ts";

export type EvidenceRequest = { framework: string; controlsFile: string; outFolder: string };

const POLL_MS = 1_000;

/**
 * The caller logs `audit.export` before and after.
 * @throws ConfigError; or what keeps the shard from being believed
 */
export async function writeEvidence(
  { auditDir, policyFile }: Pick<AuditOutConfig, "auditDir" | "policyFile">,
  { framework: name, controlsFile, outFolder }: EvidenceRequest,
): Promise<ExportResult> {
  const framework = await readFramework(controlsFile, name);
  const isThere = await access(outFolder).then(
    () => true,
    () => false,
  );
  if (isThere) throw new ConfigError(`${outFolder} is there already: name a folder that is not there yet`);
  // A memory of its own: that of audit-out is not to be disturbed.
  const stateDir = await mkdtemp(join(tmpdir(), "audit-evidence-"));
  try {
    // What is wrong ends it: nobody reads a log of it.
    await using follower = new LogFollower({ auditDir, policyFile, stateDir, pollMs: POLL_MS }, pino({ level: "silent" }));
    await follower.start();
    const shard = follower.shards.at(-1);
    if (shard === undefined || follower.incomplete.includes(shard.slug))
      throw new ConfigError(shard?.fault?.message ?? follower.fault?.message ?? "there is no log yet");
    return await writeEvidencePack(shard, name, framework, outFolder);
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
