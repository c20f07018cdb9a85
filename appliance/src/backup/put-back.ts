/**
 * Puts what was unpacked in the place of what is here, by renames alone. Nothing is removed: what was here lies in a folder aside. Each step may be
 * repeated, so one that was cut goes on when it is asked for again.
 */
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { replaceFileNow, syncNow } from "@resontech/frame/durable-file-now";
import type { PutBackPlan } from "./decisions/put-back-plan.ts";

const PLAN_FILE = "put-back.json";

export type PutBackFolders = {
  root: string;
  /** Below the root: what was unpacked, with `etc` and `data`. */
  staging: string;
};
export type PutBack = PutBackPlan & {
  /** Of the backup. */
  backup: string;
};

/** A folder of `data/` is a file system of its own, which no rename leaves. */
class MountedError extends Error {
  override readonly name = "MountedError";
  readonly code = "restore_mounted";
  readonly hint: string;

  constructor(folders: readonly string[]) {
    super(`these folders are file systems of their own: ${folders.join(", ")}`);
    this.hint = "Unmount them, restore, and move their content to the disks afterwards.";
  }
}

/** The plan of one that was cut once all was unpacked; null where there is none. */
export function openPutBack({ staging }: Pick<PutBackFolders, "staging">): PutBack | null {
  const file = join(staging, PLAN_FILE);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as PutBack) : null;
}

/** Writes the plan: from here on the restore goes on whatever becomes of the backup. @throws MountedError */
export function decidePutBack({ root, staging }: PutBackFolders, plan: PutBack): void {
  const own = lstatSync(root).dev;
  const folders = ["etc", ...plan.aside.map((name) => `data/${name}`)];
  const mounted = folders.filter(
    (path) => existsSync(join(root, path)) && lstatSync(join(root, path)).dev !== own,
  );
  if (mounted.length > 0) throw new MountedError(mounted);
  replaceFileNow(join(staging, PLAN_FILE), JSON.stringify(plan), 0o600);
}

/** No part of the appliance runs. @returns the folder that holds what was here */
export function putBack({ root, staging }: PutBackFolders, plan: PutBack): string {
  const aside = asideFolder(root, plan);
  for (const folder of [aside, join(aside, "data")])
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  swap("etc");
  for (const path of plan.carried) carry(join(aside, "etc", path), join(root, "etc", path));
  for (const name of plan.aside)
    if (!plan.in.includes(name)) put(join(root, "data", name), join(aside, "data", name));
  for (const name of plan.in) swap(join("data", name));
  for (const folder of [root, join(root, "data"), aside, join(aside, "data")]) syncNow(folder);
  rmSync(staging, { recursive: true, force: true });
  return aside;

  function swap(path: string): void {
    if (!existsSync(join(staging, path))) return;
    put(join(root, path), join(aside, path));
    put(join(staging, path), join(root, path));
  }
}

/** What was put aside earlier stays. */
function put(from: string, to: string): void {
  if (existsSync(from) && !existsSync(to)) renameSync(from, to);
}

function carry(from: string, to: string): void {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
  put(from, to);
}

function asideFolder(root: string, { backup }: PutBack): string {
  return join(root, `before-restore-${backup}`);
}

/** Names in a folder; none where there is no such folder. */
export function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : [];
}
