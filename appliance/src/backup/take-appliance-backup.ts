/** A backup of this host's appliance, on record in the audit log before a byte leaves and when it is over. */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { BackupError } from "@resontech/backup/backup-error";
import { takeBackup, type TakenBackup } from "@resontech/backup/take-backup";
import type { Target } from "@resontech/backup/target";
import Docker from "dockerode";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import { ensureFolder, ROOT } from "../config/owned-file.ts";
import type { Layout } from "@resontech/frame/layout";
import { containerName } from "../parts/container-runner.ts";
import type { PartContext } from "../parts/context.ts";
import { applianceName } from "./appliance-name.ts";
import { readBackupKeys } from "./backup-keys.ts";
import { backupParts, OBJECT_FOLDERS, OBJECTS_PATH } from "./backup-parts.ts";
import { noteBackup } from "./backup-schedule.ts";
import { shellInContainer } from "./postgres-archive.ts";
import { recordBackup } from "./record-backup.ts";

export type TakeOptions = {
  /** How many of the newest backups stay. */
  keep: number;
  onPart: (name: string) => void;
};

/**
 * @throws BackupError, BackupKeyError, AlreadyRunningError for another backup
 * @throws AuditUnavailable before anything is read
 */
export async function takeApplianceBackup(
  context: PartContext,
  target: Target,
  { keep, onPart }: TakeOptions,
): Promise<TakenBackup> {
  const { layout, config, release, parts: declared } = context;
  const { keys, signingKeyPem } = readBackupKeys(layout);
  using _lock = takeExclusiveLock(layout.run("backup.lock"), "another backup", [
    layout.release("engines", "rt-lock"),
  ]);
  const workDir = workFolder(layout);
  const socketPath =
    config.containerEngine.kind === "podman" ? layout.podmanSocket : config.containerEngine.socket;
  const parts = await backupParts({
    ...{
      layout,
      declared,
      workDir,
      postgresPort: config.ports.postgres,
      passwordFile: "/secrets/password",
    },
    postgres: shellInContainer(new Docker({ socketPath }), containerName(layout, "postgres")),
  });
  noteBackup(layout, { begunAtMs: Date.now() });
  try {
    await recordBackup(layout, { change: "begun" });
    const taken = await takeBackup({
      ...{ target, keys, signingKeyPem, parts, workDir, keep, onPart },
      appliance: applianceName(context),
      release: release.version,
      objects: {
        ...{ folder: layout.data("s3"), below: OBJECT_FOLDERS, path: OBJECTS_PATH },
        xattrProgram: layout.release("engines", "rt-xattr"),
      },
      nowMs: Date.now(),
    });
    await recordBackup(layout, {
      ...{ change: "taken", backup: taken.id, manifest_sha256: taken.manifestSha256 },
      ...{ bytes: taken.bytes, objects: taken.objects.count },
    });
    noteBackup(layout, { taken: { id: taken.id, atMs: Date.now() } });
    return taken;
  } catch (error) {
    const reason = error instanceof BackupError ? error.code : "backup_failed";
    noteBackup(layout, { failed: { code: reason, atMs: Date.now() } });
    await recordBackup(layout, { change: "failed", reason });
    throw error;
  }
}

/** In the folder of temporary copies. */
const STAYS = /^(?:known-[0-9a-f]{16}\.jsonl|state\.json|put-back)$/;

/** Temporary copies of one that was killed go; what it knew of objects stays. */
function workFolder(layout: Layout): string {
  const folder = layout.data("backup");
  ensureFolder(folder, ROOT, 0o700);
  for (const name of readdirSync(folder))
    if (!STAYS.test(name)) rmSync(join(folder, name), { recursive: true, force: true });
  return folder;
}
