/** What findings are made of: the host's disks, certificates and backups, and what parts say of themselves when they are asked. */
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import type { FindingFacts } from "@resontech/frame/finding";
import { FRONT_HEALTH_PATH, s3Front } from "@resontech/s3-front/part";
import { type BackupFacts, readBackupFacts } from "../backup/read-backup-facts.ts";
import { toolsEnvironment } from "../host-tools/tools-environment.ts";
import { readRealmFacts } from "../keycloak/realm-watch.ts";
import { askAuditd } from "../operator/ask-auditd.ts";
import { askVault } from "../operator/ask-vault.ts";
import type { PartContext } from "../parts/context.ts";
import { askPort } from "../parts/declared-part.ts";
import type { RuncVersion } from "../runc/known-escapes.ts";
import { readRuncVersion } from "../runc/read-runc-version.ts";
import { healthyForMs } from "../supervisor/decisions/healthy-for.ts";
import type { PartStatus } from "../supervisor/supervisor.ts";
import type { StatusFacts } from "./decisions/findings.ts";
import { logOf } from "./log-of.ts";
import { readCertificates } from "./read-certificates.ts";
import { readDisks } from "./read-disks.ts";

const ANSWER_MS = 3_000;

export type Asked = {
  parts: readonly PartStatus[];
  /** What the coordinator said; null: nothing. */
  health: CoordinatorHealth | null;
  /** Where nobody supervises, no part is asked. */
  isRunning: boolean;
  /** Null where it can't be asked. */
  runc: RuncVersion | null;
};

export async function readStatusFacts(
  context: PartContext,
  { parts, health, isRunning, runc }: Asked,
): Promise<StatusFacts> {
  const { layout } = context;
  const [frontLagMs, log, vault] = isRunning
    ? await Promise.all([readFrontLag(context), readLog(context), readVault(context)])
    : [null, null, null];
  const nowMs = Date.now();
  const backups = readBackupFacts(layout, nowMs, healthyForMs(parts, "coordinator"));
  return {
    ...{ parts, backups, runc },
    ...{ disks: readDisks(layout), certificates: readCertificates(layout, nowMs) },
    of: {
      ...{ nowMs, health, frontLagMs, vault },
      rolledBack: log?.rolledBack ?? null,
      realm: readRealmFacts(layout),
      followed: followedOf(backups),
      logOf: (part) => logOf(context, part),
    },
  };
}

/** The runc that starts this host's containers; null where this host runs none, or it can't be asked. */
export function readOwnRunc({ config, layout }: PartContext): RuncVersion | null {
  if (config.agent === null) return null;
  return readRuncVersion(config.containerEngine.kind, toolsEnvironment(config, layout.current));
}

function followedOf(backups: BackupFacts | null): FindingFacts["followed"] {
  const followed = backups?.followed ?? null;
  return backups === null || followed === null ? null : { target: backups.target, ...followed };
}

/** Asks auditd for its status; null when it does not answer: then its part says so. */
async function readLog({ layout }: PartContext): Promise<LogStatus | null> {
  return askAuditd(layout.run("audit", "control", "sock"), { verb: "status" }, ANSWER_MS).catch(
    () => null,
  );
}

/** Asks the vault for its health; null when it does not answer: then its part says so. */
async function readVault({ layout }: PartContext): Promise<VaultHealth | null> {
  return askVault<VaultHealth>(layout.run("vault", "sock"), { verb: "health" }, ANSWER_MS).catch(
    () => null,
  );
}

/** Asks the S3 front how late its event loop was, in milliseconds; null when it does not answer: then its part says so. */
async function readFrontLag(context: PartContext): Promise<number | null> {
  const answer = await askPort(context, s3Front, FRONT_HEALTH_PATH).catch(() => null);
  if (answer?.status !== 200) return null;
  const { loopLagMs } = JSON.parse(answer.body) as { loopLagMs?: unknown };
  return typeof loopLagMs === "number" ? loopLagMs : null;
}
