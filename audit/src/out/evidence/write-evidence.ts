/** Exports a shard, reads it from its first entry as far as the export goes, and writes what it holds for a framework. */
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import { makeFolder } from "@resontech/daemon/durable-file";
import { pino } from "pino";
import { exportLog, type ExportResult } from "../../log/export/export-log.ts";
import { findLogShard } from "../../log/export/find-log-shard.ts";
import { ConfigError } from "../config.ts";
import { LogFollower } from "../follow/log-follower.ts";
import { readFramework } from "./control-map.ts";
import { BUNDLE, writeEvidencePack } from "./evidence-pack.ts";

export type EvidenceRequest = {
  framework: string;
  controlsFile: string;
  /** Is made, all of it or nothing; it must not be there yet. */
  outFolder: string;
  /** @default the one that is written */
  shard?: string;
  /** As for {@link exportLog}. @default the newest */
  witnessedFor?: number | "all";
};

const POLL_MS = 1_000;

/**
 * The caller logs `audit.export` before and after.
 * @returns what the export is
 * @throws ConfigError, UnknownShardError; or what keeps the shard from being believed
 */
export async function writeEvidence(
  { auditDir, policyFile }: Pick<AuditOutConfig, "auditDir" | "policyFile">,
  { framework: name, controlsFile, outFolder, shard: named, ...request }: EvidenceRequest,
): Promise<ExportResult> {
  const framework = await readFramework(controlsFile, name);
  const isThere = await access(outFolder).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new ConfigError(`${outFolder} is there already: name a folder that is not there yet`);
  const { slug, logDir } = await findLogShard(auditDir, named);
  // A memory of its own: that of audit-out is not to be disturbed.
  const stateDir = await mkdtemp(join(tmpdir(), "audit-evidence-"));
  try {
    return await makeFolder(outFolder, 0o750, async (folder) => {
      // Before it is read: the log goes on meanwhile, and the tables count what this holds.
      const bundle = await exportLog({ ...request, logDir, file: join(folder, BUNDLE) });
      // What is wrong ends it: nobody reads a log of it.
      await using follower = new LogFollower(
        { auditDir, policyFile, stateDir, pollMs: POLL_MS },
        pino({ level: "silent" }),
      );
      await follower.start();
      const shard = follower.shards.find((one) => one.slug === slug);
      if (shard === undefined || follower.incomplete.includes(slug))
        throw new ConfigError(
          shard?.fault?.message ??
            follower.fault?.message ??
            `the shard ${slug} is not there any more`,
        );
      if (shard.tree.size < bundle.size)
        throw new ConfigError(`the shard ${slug} has become shorter while it was read`);
      await writeEvidencePack(shard, bundle, name, framework, folder);
      return bundle;
    });
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
