/** Exports shards, reads each from its first entry as far as its export goes, and writes what they hold for a framework. */
import { access, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import { makeFolder } from "@resontech/frame/durable-file";
import { pino } from "pino";
import { exportLog, type ExportResult } from "@resontech/audit/export";
import { findLogShard, type LogShard, logShardsOf } from "@resontech/audit/export/find-log-shard";
import { type LogPeriod, WHOLE } from "@resontech/audit/export/log-period";
import { inOrder } from "@resontech/audit/format/shard/shard-plan";
import { ConfigError } from "../config.ts";
import type { FollowedShard } from "../follow/followed-shard.ts";
import { LogFollower } from "../follow/log-follower.ts";
import { readFramework } from "./control-map.ts";
import { type BundledShard, writeEvidencePack } from "./evidence-pack.ts";
import type { SampleRequest } from "./verify-bundle.ts";

export type EvidenceRequest = {
  framework: string;
  controlsFile: string;
  /** Is made, all of it or nothing; it must not be there yet. */
  outFolder: string;
  /** @default the one that is written, or where a period is named, all that hold entries of it */
  shard?: string;
  /** @default all that the shard holds */
  period?: LogPeriod;
  /** As for {@link exportLog}, of the shard that is written; of a closed one all is. @default the newest */
  witnessedFor?: number | "all";
  /** The verifier of the release, `sov-verify.mjs`: it judges what is exported. */
  verifierFile: string;
  /** @default none is drawn */
  sample?: SampleRequest;
  /** Retention and the like, by name. @default none is told */
  settings?: readonly (readonly [name: string, value: string])[];
};

/** @property operations lines of its table @property shards what was exported of each, oldest first */
export type EvidenceResult = {
  operations: number;
  shards: (ExportResult & { file: string })[];
};

const POLL_MS = 1_000;

/**
 * The caller logs `audit.export` before and after.
 * @throws ConfigError, UnknownShardError; or what keeps a shard from being believed
 */
export async function writeEvidence(
  { auditDir, policyFile }: Pick<AuditOutConfig, "auditDir" | "policyFile">,
  request: EvidenceRequest,
): Promise<EvidenceResult> {
  const {
    framework: name,
    controlsFile,
    outFolder,
    period = WHOLE,
    witnessedFor,
    verifierFile,
  } = request;
  const framework = await readFramework(controlsFile, name);
  const isThere = await access(outFolder).then(
    () => true,
    () => false,
  );
  if (isThere)
    throw new ConfigError(`${outFolder} is there already: name a folder that is not there yet`);
  const shards = await evidenceShards(auditDir, request);
  // A memory of its own: that of audit-out is not to be disturbed.
  const stateDir = await mkdtemp(join(tmpdir(), "audit-evidence-"));
  try {
    return await makeFolder(outFolder, 0o750, async (folder) => {
      const exports: (LogShard & { bundle: ExportResult; file: string })[] = [];
      for (const shard of shards) {
        const file = `log-${shard.slug}.tar`;
        const covering = shard.isWritten ? witnessedFor : "all";
        // Before it is read: the log goes on meanwhile, and the tables count what this holds.
        const bundle = await exportLog({
          ...{ logDir: shard.logDir, file: join(folder, file) },
          ...(covering === undefined ? {} : { witnessedFor: covering }),
        });
        exports.push({ ...shard, bundle, file });
      }
      // What is wrong ends it: nobody reads a log of it.
      await using follower = new LogFollower(
        { auditDir, policyFile, stateDir, pollMs: POLL_MS },
        pino({ level: "silent" }),
      );
      await follower.start();
      const bundled = exports.map(
        ({ slug, bundle, file }): BundledShard => ({
          ...{ shard: believed(follower, slug, bundle.size), bundle, file },
        }),
      );
      const [oldest] = exports;
      const before = follower.shards.filter(({ slug }) => inOrder(slug, oldest!.slug) < 0);
      const isRead = ({ slug }: FollowedShard): boolean => !follower.incomplete.includes(slug);
      const operations = await writeEvidencePack(
        bundled,
        {
          ...{ name, framework, period, policyFile, verifierFile },
          earlier: before.filter(isRead),
          unread: before.filter((one) => !isRead(one)).map(({ slug }) => slug),
          ...{ sample: request.sample ?? null, settings: request.settings ?? [] },
        },
        folder,
      );
      return { operations, shards: exports.map(({ bundle, file }) => ({ ...bundle, file })) };
    });
  } finally {
    await rm(stateDir, { recursive: true, force: true });
  }
}

/**
 * Which shards a pack reads.
 * @throws UnknownShardError, LogDamagedError
 */
export async function evidenceShards(
  auditDir: string,
  { shard, period }: Pick<EvidenceRequest, "shard" | "period">,
): Promise<LogShard[]> {
  return shard === undefined && period !== undefined
    ? await logShardsOf(auditDir, period)
    : [await findLogShard(auditDir, shard)];
}

/** @throws ConfigError where it can't be believed as far as the export goes */
function believed(follower: LogFollower, slug: string, size: number): FollowedShard {
  const shard = follower.shards.find((one) => one.slug === slug);
  if (shard === undefined || follower.incomplete.includes(slug))
    throw new ConfigError(
      shard?.fault?.message ?? follower.fault?.message ?? `the shard ${slug} is not there any more`,
    );
  if (shard.tree.size < size)
    throw new ConfigError(`the shard ${slug} has become shorter while it was read`);
  return shard;
}
