/** Restores a backup on a host where its release is installed, and tries one without touching anything. */
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { OpenedBackup } from "@resontech/backup/open-backup";
import type { RecoveryKey } from "@resontech/backup/recovery-key";
import { stageBackup, type StagedBackup } from "@resontech/backup/stage-backup";
import type { Target } from "@resontech/backup/target";
import { takeExclusiveLock } from "../config/exclusive-lock.ts";
import type { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../parts/context.ts";
import { notePutBack } from "./tell-put-back.ts";
import { checkLogArchive, type Verifier } from "./check-log-archive.ts";
import { hasSameLogKey, putBackPlan } from "./decisions/put-back-plan.ts";
import { finishStaged, policyIn } from "./finish-staged.ts";
import { type FollowedFrom, stageFollowed, type StagedFollowed } from "./stage-followed.ts";
import { decidePutBack, namesIn, openPutBack, type PutBack, putBack } from "./put-back.ts";

/** Below the root: what was unpacked. */
const STAGING = "restoring";
/** Told as a part is. */
const FOLLOWED = "what followed";

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
  /** What followed the backup is used up to then; null: as far as it goes. */
  upToMs: number | null;
  /** Stops every part. */
  stop: () => Promise<void>;
  /** Asks the operator. @throws where he does not agree */
  agree: (what: OpenedBackup["manifest"]) => Promise<void>;
  onPart: (name: string) => void;
};
export type Restored = StagedBackup & {
  /** Of the coordinator's database; null: it is the one of the backup. */
  followed: StagedFollowed | null;
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
  { target, id, key, upToMs, stop, agree, onPart }: RestoreOptions,
): Promise<Restored> {
  const { layout, release } = context;
  using _lock = restoreLock(layout);
  const backup = await OpenedBackup.open(target, id, key);
  const { manifest } = backup;
  if (manifest.release !== release.version)
    throw new OtherReleaseError(manifest.release, release.version);
  await agree(manifest);
  const { plan, ...staged } = await unpacked(backup, context, { target, key, upToMs }, onPart);
  await stop();
  notePutBack(layout, manifest.id);
  const aside = putBack({ root: layout.root, staging: stagingPath(layout) }, plan);
  const { id: name, takenAt } = manifest;
  return { ...staged, backup: name, takenAt, aside, isHome: plan.isHome };
}

/** What fails leaves nothing: a disk that it filled is the running appliance's as well. */
async function unpacked(
  backup: OpenedBackup,
  context: PartContext,
  from: FollowedFrom,
  onPart: (name: string) => void,
): Promise<StagedBackup & { plan: PutBack; followed: StagedFollowed | null }> {
  const { layout, config } = context;
  const staging = stagingFolder(layout);
  try {
    const staged = await stage(backup, layout, { folder: staging, writesObjects: true, onPart });
    onPart(FOLLOWED);
    const followed = await stageFollowed(backup, staging, from);
    await finishStaged(staging, config);
    return { ...staged, followed, plan: await decided(context, staging, backup.manifest.id) };
  } catch (error) {
    rmSync(staging, { recursive: true, force: true });
    throw error;
  }
}

/** Decides what is put back: from here on it is. @throws MountedError */
async function decided(
  { layout, parts: declared }: PartContext,
  staging: string,
  backup: string,
): Promise<PutBack> {
  const isHome = hasSameLogKey(
    await policyIn(layout.data("audit")),
    await policyIn(join(staging, "data", "audit")),
  );
  const names = namesIn(join(staging, "data"));
  const plan = {
    ...putBackPlan(namesIn(layout.data()), names, { isHome, declared }),
    backup,
  };
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

/** Makes sure, before any part starts, that no restore is open. @throws RestoreOpenError */
export function requireNoOpenRestore(layout: Layout): void {
  if (openPutBack({ staging: stagingPath(layout) }) !== null) throw new RestoreOpenError();
}

export type TryOptions = Pick<RestoreOptions, "target" | "id" | "key" | "upToMs" | "onPart">;
export type TriedBackup = StagedBackup & {
  followed: StagedFollowed | null;
  backup: string;
  takenAt: string;
  /** Shards that the verifier accepts. */
  log: string[];
};

/**
 * Reads a whole backup beside the running appliance: every hash, every database, the log by the offline verifier. It signs nothing, opens no port,
 * and leaves nothing.
 * @throws BackupError
 */
export async function tryBackup(
  layout: Layout,
  { target, id, key, upToMs, onPart }: TryOptions,
): Promise<TriedBackup> {
  using _lock = restoreLock(layout);
  const backup = await OpenedBackup.open(target, id, key);
  const folder = join(layout.root, "trying-backup");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { mode: 0o700 });
  try {
    const staged = await stage(backup, layout, { folder, writesObjects: false, onPart });
    onPart(FOLLOWED);
    const followed = await stageFollowed(backup, folder, { target, key, upToMs });
    const { id: name, takenAt, parts } = backup.manifest;
    const log = parts.flatMap((part) => (part.kind === "archive" ? [part.path] : []));
    return { ...staged, followed, backup: name, takenAt, log };
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
