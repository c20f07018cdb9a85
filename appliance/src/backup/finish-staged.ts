/** Makes of a backup that was unpacked the state of an appliance: who owns what, a generation of its own, a log that knows that it was put back. */
import { chmod, chown, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { lastAcknowledged, type LeafOfLog, moveGeneration } from "@resontech/backup/database-part";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { replaceFile, syncFolder } from "@resontech/frame/durable-file";
import { loadConfig } from "../config/load-config.ts";
import type { Owner } from "../config/owned-file.ts";
import { PARTS } from "@resontech/parts";
import { userOfPart } from "../parts/context.ts";
import { configOnHost } from "./decisions/put-back-plan.ts";

const SHARD = /^[0-9]{4}(?:-[1-9][0-9]{0,3})?$/;
/** The producer whose acknowledgements the coordinator's database keeps. */
const RECORDER = "coordinator-record";
/** A log that has leaves has a segment; an empty one holds no more than what was signed. */
const FIRST_SEGMENT = "000000000001.seg";

/** The backup is of an appliance whose processes have other numeric users than those of this host. */
class OtherUsersError extends Error {
  override readonly name = "OtherUsersError";
  readonly code = "restore_other_users";
  readonly hint: string;

  constructor(staged: number, here: number) {
    super(
      `the backup's processes have users from ${staged} on, those of this host from ${here} on`,
    );
    this.hint = `Uninstall here, and install with --uid-base ${staged}.`;
  }
}

/**
 * @param staging where the backup was unpacked
 * @throws OtherUsersError, ConfigInvalidError
 */
export async function finishStaged(staging: string, here: ApplianceConfig): Promise<void> {
  const configFile = join(staging, "etc", "appliance.json");
  const staged = loadConfig(configFile);
  if (staged.uidBase !== here.uidBase) throw new OtherUsersError(staged.uidBase, here.uidBase);
  const config = configOnHost(staged, here);
  await replaceFile(configFile, `${JSON.stringify(config, null, 2)}\n`, 0o644);
  const owner = (part: string): Owner => {
    const id = userOfPart({ config, parts: PARTS }, part);
    return { uid: id, gid: id };
  };
  const data = (...path: string[]): string => join(staging, "data", ...path);
  const database = data("coordinator", "coordinator.db");
  const acknowledged = lastAcknowledged(database);
  moveGeneration(database);
  await give(data("coordinator"), owner("coordinator"), { folder: 0o700, file: 0o600 });
  await give(data("postgres"), owner("postgres"), { folder: 0o700, file: 0o600 });
  if (existsSync(data("vault")))
    await give(data("vault"), owner("vault"), { folder: 0o700, file: 0o600 });
  await finishLog(data("audit"), acknowledged, {
    uid: owner("auditd").uid,
    gid: owner("audit-out").gid,
  });
}

/** @param acknowledged what the coordinator holds of the log: it may be later than the log, and can't say so before that goes on */
async function finishLog(
  folder: string,
  acknowledged: LeafOfLog | null,
  owner: Owner,
): Promise<void> {
  for (const slug of (await readdir(folder)).filter((name) => SHARD.test(name))) {
    const wal = join(folder, slug, "wal");
    await mkdir(wal, { mode: 0o700 });
    await writeFile(join(wal, FIRST_SEGMENT), "", { flag: "wx" });
  }
  // docs/operator/restore-log.md: whoever puts the folder back leaves it.
  const said = acknowledged === null ? [] : [{ prod: RECORDER, ...acknowledged }];
  await writeFile(join(folder, "restored"), JSON.stringify({ acknowledged: said }));
  await give(folder, owner, { folder: 0o2750, file: 0o440 });
  for (const slug of (await readdir(folder)).filter((name) => SHARD.test(name)))
    await give(join(folder, slug, "wal"), owner, { folder: 0o700, file: 0o600 });
  await syncFolder(folder);
}

/** What is here was unpacked by us and is root's own: nobody changes it meanwhile. */
async function give(
  path: string,
  owner: Owner,
  modes: { folder: number; file: number },
): Promise<void> {
  const isFolder = (await lstat(path)).isDirectory();
  if (isFolder) for (const name of await readdir(path)) await give(join(path, name), owner, modes);
  await chown(path, owner.uid, owner.gid);
  await chmod(path, isFolder ? modes.folder : modes.file);
}

/** Reads the policy of the log in a folder; empty where there is none. */
export async function policyIn(auditDir: string): Promise<string> {
  return await readFile(join(auditDir, "audit.policy"), "utf8").catch(() => "");
}
