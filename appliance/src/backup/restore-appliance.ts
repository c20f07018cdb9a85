/** Restores a backup on a host where its release is installed, and tries one without touching anything. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OpenedBackup } from "@resontech/backup/open-backup";
import type { RecoveryKey } from "@resontech/backup/recovery-key";
import { stageBackup, type StagedBackup } from "@resontech/backup/stage-backup";
import type { Target } from "@resontech/backup/target";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import type { Layout } from "../layout.ts";
import type { PartContext } from "../parts/context.ts";
import { notePutBack } from "../supervisor/tell-put-back.ts";
import { checkLogArchive, type Verifier } from "./check-log-archive.ts";
import { hasSameLogKey, putBackPlan } from "./decisions/put-back-plan.ts";
import { finishStaged, policyIn } from "./finish-staged.ts";
import { decidePutBack, namesIn, openPutBack, type PutBack, putBack } from "./put-back.ts";

/** Below the root: what was unpacked. */
const STAGING = "restoring";

/** Another release wrote the backup: only that one knows the form of what is in it. */
class OtherReleaseError extends Error {
  override readonly name = "OtherReleaseError";
  readonly code = "restore_other_release";
  readonly hint: string;

  constructor(backup: string, here: string) {
    super(`the backup is of the release ${backup}, and ${here} is installed`);
    this.hint = `Install ${backup}, restore, and upgrade afterwards.`;
  }
}

export type RestoreOptions = {
  target: Target;
  /** Null: the newest. */
  id: string | null;
  key: RecoveryKey;
  /** Stops every part. */
  stop: () => Promise<void>;
  /** Asks the operator. @throws where he does not agree */
  agree: (what: OpenedBackup["manifest"]) => Promise<void>;
  onPart: (name: string) => void;
};
export type Restored = StagedBackup & {
  backup: string;
  takenAt: string;
  /** Where lies what was here. */
  aside: string;
  /** The log's keys are on this host: it is the one that the backup was taken of. */
  isHome: boolean;
};

/**
 * Everything is unpacked and checked before anything stops; then renames alone. One that was cut after that goes on with {@link goOnRestoring}.
 * @throws BackupError, OtherReleaseError, OtherUsersError, MountedError, AlreadyRunningError
 */
export async function restoreAppliance(
  context: PartContext,
  { target, id, key, stop, agree, onPart }: RestoreOptions,
): Promise<Restored> {
  const { layout, release } = context;
  using _lock = restoreLock(layout);
  const backup = await OpenedBackup.open(target, id, key);
  const { manifest } = backup;
  if (manifest.release !== release.version)
    throw new OtherReleaseError(manifest.release, release.version);
  await agree(manifest);
  const { plan, ...staged } = await unpacked(backup, context, onPart);
  await stop();
  notePutBack(layout, manifest.id);
  const aside = putBack({ root: layout.root, staging: stagingPath(layout) }, plan);
  const { id: name, takenAt } = manifest;
  return { ...staged, backup: name, takenAt, aside, isHome: plan.isHome };
}

/** What fails leaves nothing: a disk that it filled is the running appliance's as well. */
async function unpacked(
  backup: OpenedBackup,
  { layout, config }: PartContext,
  onPart: (name: string) => void,
): Promise<StagedBackup & { plan: PutBack }> {
  const staging = stagingFolder(layout);
  try {
    const staged = await stage(backup, layout, { folder: staging, writesObjects: true, onPart });
    await finishStaged(staging, config);
    return { ...staged, plan: await decided(layout, staging, backup.manifest.id) };
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** From here on it is put back. @throws MountedError */
async function decided(layout: Layout, staging: string, backup: string): Promise<PutBack> {
  const isHome = hasSameLogKey(
    await policyIn(layout.data("audit")),
    await policyIn(join(staging, "data", "audit")),
  );
  const names = namesIn(join(staging, "data"));
  const plan = { ...putBackPlan(namesIn(layout.data()), names, isHome), backup };
  decidePutBack({ root: layout.root, staging }, plan);
  return plan;
}

/**
 * Goes on with a restore that was cut while it put things in their places.
 * @returns where lies what was here, and false for `isHome` where the log's keys stayed elsewhere; null where there is none to go on with
 */
export async function goOnRestoring(
  layout: Layout,
  stop: () => Promise<void>,
): Promise<{ backup: string; aside: string; isHome: boolean } | null> {
  const folders = { root: layout.root, staging: stagingPath(layout) };
  const plan = openPutBack(folders);
  if (plan === null) return null;
  using _lock = restoreLock(layout);
  await stop();
  notePutBack(layout, plan.backup);
  return { backup: plan.backup, aside: putBack(folders, plan), isHome: plan.isHome };
}

/** A restore was cut between its renames: what is here is neither the one state nor the other. */
class RestoreOpenError extends Error {
  override readonly name = "RestoreOpenError";
  readonly code = "restore_open";
  readonly hint = "Go on with it: appliance restore";

  constructor() {
    super("a restore was broken off while it put things in their places");
  }
}

/** One that was cut between two renames may have no configuration, and every command reads that first. */
export function bringConfiguration(root: string): void {
  const staging = join(root, STAGING);
  const [here, staged] = [join(root, "etc"), join(staging, "etc")];
  if (openPutBack({ staging }) !== null && !existsSync(here) && existsSync(staged))
    renameSync(staged, here);
}

/** Before any part starts. @throws RestoreOpenError */
export function requireNoOpenRestore(layout: Layout): void {
  if (openPutBack({ staging: stagingPath(layout) }) !== null) throw new RestoreOpenError();
}

/**
 * Reads a whole backup beside the running appliance: every hash, every database, the log by the offline verifier. It signs nothing, opens no port,
 * and leaves nothing.
 * @throws BackupError
 */
export async function tryBackup(
  layout: Layout,
  { target, id, key, onPart }: Pick<RestoreOptions, "target" | "id" | "key" | "onPart">,
): Promise<StagedBackup & { backup: string; takenAt: string; log: string[] }> {
  using _lock = restoreLock(layout);
  const backup = await OpenedBackup.open(target, id, key);
  const folder = join(layout.root, "trying-backup");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const staged = await stage(backup, layout, { folder, writesObjects: false, onPart });
    const { id: name, takenAt, parts } = backup.manifest;
    const log = parts.flatMap((part) => (part.kind === "archive" ? [part.path] : []));
    return { ...staged, backup: name, takenAt, log };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function stage(
  backup: OpenedBackup,
  layout: Layout,
  options: { folder: string; writesObjects: boolean; onPart: (name: string) => void },
): Promise<StagedBackup> {
  const verifier: Verifier = {
    node: [layout.release("bin", "node")],
    program: layout.release("app", "sov-verify.mjs"),
    policyFile: join(options.folder, "data", "audit", "audit.policy"),
  };
  return await stageBackup(backup, {
    ...options,
    xattrProgram: layout.release("engines", "rt-xattr"),
    checkArchive: (_part, file) => checkLogArchive(verifier, file),
  });
}

function stagingPath({ root }: Layout): string {
  return join(root, STAGING);
}

/** What one left that was cut before all was unpacked is gone. */
function stagingFolder(layout: Layout): string {
  const folder = stagingPath(layout);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  return folder;
}

function restoreLock(layout: Layout): Disposable {
  return takeExclusiveLock(layout.run("restore.lock"), "another restore", [
    layout.release("engines", "rt-lock"),
  ]);
}
