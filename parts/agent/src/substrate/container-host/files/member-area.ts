import { execFile } from "node:child_process";
import { lchownSync, lstatSync, statfsSync } from "node:fs";
import { join, posix } from "node:path";
import { promisify } from "node:util";
import type { FoundFile } from "../../../decisions/own-files.ts";
import type { Area, StagedPart } from "../../area.ts";
import { findOwnFiles } from "./find-own-files.ts";
import { MountedFile } from "./mounted-file.ts";
import type { MemberFilesystem } from "./member-filesystem.ts";

/** What the job may write, by its path in the container. */
const MOUNTS: readonly [string, Parameters<MemberFilesystem["path"]>[0]][] = [
  ["/rt/events/", "events"],
  ["/app/out/", "out"],
  ["/app/workspace/", "workspace"],
  ["/tmp/", "tmp"],
];

/** A member's mounted file system, as the rest of the agent may use it. */
export class MemberArea implements Area {
  readonly #disk: MemberFilesystem;
  readonly #uid: () => number;

  /** @param uid the member's user, asked for once it has one */
  constructor(disk: MemberFilesystem, uid: () => number) {
    this.#disk = disk;
    this.#uid = uid;
  }

  path(part: StagedPart, ...rest: string[]): string {
    return this.#disk.path(part, ...rest);
  }

  async giveToJob(path: string): Promise<void> {
    const uid = this.#uid();
    if (lstatSync(path).isDirectory())
      await promisify(execFile)("chown", ["-R", "-h", `${uid}:${uid}`, path]);
    else lchownSync(path, uid, uid);
  }

  scratch(name: string): string {
    return join(this.#disk.mountPoint, name);
  }

  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#disk.mountPoint);
    return bavail * bsize;
  }

  get isFull(): boolean {
    return this.#disk.isFull;
  }

  async open(path: string): Promise<MountedFile | null> {
    const place = this.#placeOf(path);
    return place === null ? null : MountedFile.open(this.#disk.mountPoint, place);
  }

  async list(folder: string): Promise<FoundFile[]> {
    const place = this.#placeOf(`${folder}/`);
    return place === null ? [] : findOwnFiles(place);
  }

  /** Null for what the job could not have written. */
  #placeOf(path: string): string | null {
    const plain = posix.normalize(path);
    for (const [prefix, part] of MOUNTS)
      if (plain.startsWith(prefix)) return this.#disk.path(part, plain.slice(prefix.length));
    return null;
  }
}
