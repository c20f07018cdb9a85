/** `audit-out evidence FRAMEWORK`: reads the newest shard from its first entry, and writes what it holds for a framework. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import type { Logger } from "pino";
import { ConfigError } from "../config.ts";
import { LogFollower } from "../follow/log-follower.ts";
import { readFramework } from "./control-map.ts";
import { writeEvidencePack } from "./evidence-pack.ts";

export type EvidenceRequest = { framework: string; controlsFile: string; outFolder: string };

/** @throws ConfigError; or what keeps the log from being believed */
export async function runEvidence(
  config: AuditOutConfig,
  { framework: name, controlsFile, outFolder }: EvidenceRequest,
  log: Logger,
): Promise<void> {
  const framework = await readFramework(controlsFile, name);
  // A memory of its own: that of the running process is not to be disturbed.
  const stateDir = await mkdtemp(join(tmpdir(), "audit-evidence-"));
  try {
    await using follower = new LogFollower({ ...config, stateDir }, log);
    await follower.start();
    const shard = follower.shards.at(-1);
    if (shard === undefined || follower.fault !== null) throw new ConfigError(follower.fault?.message ?? "there is no log yet");
    await writeEvidencePack(shard, name, framework, outFolder);
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}
