import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, rmdir, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { removeLeftovers, replaceFileWith, syncFolder } from "@resontech/frame/durable-file";
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
      this.#within(dirname(path), { makes: true }, async (folder) => {
        await replaceFileWith(join(folder, basename(path)), 0o600, async (handle) => {
          for await (const chunk of content) await handle.appendFile(chunk);
        });
      }),
    );
  }

  async *get(path: string): AsyncGenerator<Uint8Array> {
    let handle: FileHandle;
    try {
      handle = await this.#within(dirname(path), { makes: false }, (folder) =>
        openFile(join(folder, basename(path))),
      );
    } catch (error) {
      if (error instanceof BackupError) throw error;
      throw codeOf(error) === "ENOENT"
        ? new BackupError("backup_missing", `${path} is not on ${this.name}`)
        : targetError(this.name, error);
    }
    try {
      yield* handle.createReadStream() as AsyncIterable<Buffer>;
    } catch (error) {
      throw targetError(this.name, error);
    }
  }

  async *list(folder: string): AsyncGenerator<string> {
    const entries = await this.#within(folder, { makes: false }, async (at) => {
      // What a killed backup was writing has no name that a backup knows. Another process may be writing.
      await removeLeftovers(at, { olderThanMs: LEFT_OVER_AFTER_MS });
      return await readdir(at, { withFileTypes: true });
    }).catch((error: unknown) => {
      if (error instanceof BackupError) throw error;
      if (codeOf(error) === "ENOENT") return [];
      throw targetError(this.name, error);
    });
    for (const entry of entries) {
      const path = `${folder}/${entry.name}`;
      if (entry.isDirectory()) yield* this.list(path);
      else if (!entry.name.endsWith(".new")) yield path;
    }
  }

  async remove(path: string): Promise<void> {
    const folder = dirname(path);
    await this.#explained(async () => {
      await this.#within(folder, { makes: false }, (at) =>
        rm(join(at, basename(path)), { force: true }),
      ).catch((error: unknown) => {
        if (codeOf(error) !== "ENOENT") throw error;
      });
      if (folder === ".") return;
      // A folder that still holds something stays.
      await this.#within(dirname(folder), { makes: false }, (at) =>
        rmdir(join(at, basename(folder))),
      ).catch(() => {});
    });
  }

  /**
   * A disk that was unmounted since leaves a folder of the same name, on the host's own disk. What is given to `work` stands for the folder that was
   * looked at, also where the disk goes away meanwhile. Somebody else may own the target: no link below it is followed.
   * @param folder below the target; `makes`: where it is missing
   */
  async #within<T>(
    folder: string,
    { makes }: { makes: boolean },
    work: (at: string) => Promise<T>,
  ): Promise<T> {
    let handle = await open(this.name, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      const { dev, ino } = await handle.stat();
      if (dev !== this.#is.dev || ino !== this.#is.ino)
        throw new BackupError("backup_target", `${this.name} is another folder than it was`);
      for (const name of folder.split("/").filter((part) => part !== "" && part !== ".")) {
        const inner = await openFolder(placeOf(handle), name, makes);
        await handle.close();
        handle = inner;
      }
      return await work(placeOf(handle));
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

function placeOf({ fd }: FileHandle): string {
  return `/proc/self/fd/${fd}`;
}

/** A new name is durable when it resolves. @throws an error of the file system for a link, and for what is no folder */
async function openFolder(at: string, name: string, makes: boolean): Promise<FileHandle> {
  const path = join(at, name);
  if (makes) {
    const isNew = await mkdir(path, { mode: 0o700 }).then(
      () => true,
      (error: unknown) => {
        if (codeOf(error) === "EEXIST") return false;
        throw error;
      },
    );
    if (isNew) await syncFolder(at);
  }
  return await open(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
}

/** @throws BackupError `backup_target` for what is no file: a pipe would never end */
async function openFile(path: string): Promise<FileHandle> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(path, flags);
  if ((await handle.stat()).isFile()) return handle;
  await handle.close();
  throw new BackupError("backup_target", `${basename(path)} is no file`);
}

function targetError(name: string, cause: unknown): BackupError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const message = said.replaceAll(/\/proc\/self\/fd\/\d+/g, name);
  return new BackupError("backup_target", `${name}: ${message}`, { cause });
}

/** Answers the file system's code; null where it was something else that failed. */
function codeOf(error: unknown): string | null {
  return error instanceof Error && "syscall" in error && "code" in error
    ? String(error.code)
    : null;
}
