import { constants, createReadStream } from "node:fs";
import { mkdir, open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { removeLeftovers, replaceFileWith, syncFolder } from "@resontech/daemon/durable-file";
import { BackupError } from "../backup-error.ts";
import type { Target } from "./target.ts";

const LEFT_OVER_AFTER_MS = 600_000;

type Place = { dev: number; ino: number };

/** A folder of this host: a disk of its own, or a mount of another host. */
export class FolderTarget implements Target {
  readonly name: string;
  readonly #is: Place;

  private constructor(folder: string, place: Place) {
    this.name = folder;
    this.#is = place;
  }

  /** @throws BackupError `backup_target` where there is no such folder: a disk that is not mounted must not be taken for an empty one */
  static async open(folder: string): Promise<FolderTarget> {
    const found = await stat(folder).catch(() => null);
    if (found?.isDirectory() !== true)
      throw new BackupError("backup_target", `${folder} is no folder`);
    return new FolderTarget(folder, found);
  }

  async put(path: string, content: AsyncIterable<Uint8Array>): Promise<void> {
    await this.#explained(() =>
      this.#within(async (folder) => {
        await makeFolders(folder, dirname(path));
        await replaceFileWith(join(folder, path), 0o600, async (handle) => {
          for await (const chunk of content) await handle.appendFile(chunk);
        });
      }),
    );
  }

  async *get(path: string): AsyncGenerator<Uint8Array> {
    try {
      yield* createReadStream(join(this.name, path)) as AsyncIterable<Buffer>;
    } catch (error) {
      throw codeOf(error) === "ENOENT"
        ? new BackupError("backup_missing", `${path} is not on ${this.name}`)
        : targetError(this.name, error);
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const entries = await readdir(join(this.name, folder), { withFileTypes: true }).catch(
      (error: unknown) => {
        if (codeOf(error) === "ENOENT") return [];
        throw targetError(this.name, error);
      },
    );
    // What a killed backup was writing has no name that a backup knows. Another process may be writing.
    await removeLeftovers(join(this.name, folder), { olderThanMs: LEFT_OVER_AFTER_MS });
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.list(path);
      else if (!entry.name.endsWith(".new")) yield path;
    }
  }

  async remove(path: string): Promise<void> {
    await this.#explained(async () => {
      await rm(join(this.name, path), { force: true });
      // A folder that still holds something stays.
      await rmdir(join(this.name, dirname(path))).catch(() => {});
    });
  }

  /**
   * A disk that was unmounted since leaves a folder of the same name, on the host's own disk. What is given to `work` stands for the folder that was
   * looked at, also where the disk goes away meanwhile.
   */
  async #within(work: (folder: string) => Promise<void>): Promise<void> {
    const handle = await open(this.name, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const { dev, ino } = await handle.stat();
      if (dev !== this.#is.dev || ino !== this.#is.ino)
        throw new BackupError("backup_target", `${this.name} is another folder than it was`);
      await work(`/proc/self/fd/${handle.fd}`);
    } finally {
      await handle.close();
    }
  }

  async #explained(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      throw error instanceof BackupError || codeOf(error) === null
        ? error
        : targetError(this.name, error);
    }
  }
}

/** Each new name is durable when it resolves. */
async function makeFolders(within: string, folder: string): Promise<void> {
  const made = await mkdir(join(within, folder), { recursive: true, mode: 0o700 });
  if (made === undefined) return;
  for (let at = join(within, folder); at.length >= within.length; at = dirname(at)) {
    await syncFolder(at);
    if (at === dirname(made)) return;
  }
}

function targetError(name: string, cause: unknown): BackupError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const message = said.replaceAll(/\/proc\/self\/fd\/\d+/g, name);
  return new BackupError("backup_target", `${name}: ${message}`, { cause });
}

/** Of the file system; null where it was something else that failed. */
function codeOf(error: unknown): string | null {
  return error instanceof Error && "syscall" in error && "code" in error
    ? String(error.code)
    : null;
}
