import { type FileHandle, mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { writeFully } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";

const MIB = 1024 ** 2;
/** After so many bytes the next record begins a file of its own, with a whole input. */
const FILE_BYTES = 8 * MIB;
/** Of all files but the one that is begun. */
const KEPT_BYTES = 64 * MIB - 2 * FILE_BYTES;
const KEPT_MS = 30 * 24 * 3_600_000;
const NAME = /^plans-(\d{12})\.rec$/;

export type PlanFile = { path: string; firstNumber: number; bytes: number; changedMs: number };
export type PlanFileLimits = { fileBytes: number; keptBytes: number; keptMs: number };
const LIMITS: PlanFileLimits = { fileBytes: FILE_BYTES, keptBytes: KEPT_BYTES, keptMs: KEPT_MS };

/** The files of plan records in their folder, each named for its first record. One process writes; what it writes and what is read take turns. */
export class PlanFiles {
  readonly #folder: string;
  readonly #limits: PlanFileLimits;
  readonly #turns = new Turns();
  #open: { handle: FileHandle; bytes: number } | null = null;

  constructor(folder: string, limits: PlanFileLimits = LIMITS) {
    this.#folder = folder;
    this.#limits = limits;
  }

  static besideDatabase(databaseFile: string): PlanFiles {
    return new PlanFiles(join(dirname(databaseFile), "plan-records"));
  }

  /** Whether the next record begins a file. */
  get isNew(): boolean {
    return this.#open === null || this.#open.bytes >= this.#limits.fileBytes;
  }

  /** Appends a record. A file in which that fails gets no more. @throws what the disk says */
  async append(number: number, bytes: Buffer): Promise<void> {
    await this.#turns.run(async () => {
      try {
        const file = this.isNew ? await this.#begin(number) : this.#open!;
        await writeFully(file.handle, bytes, file.bytes);
        file.bytes += bytes.length;
      } catch (error) {
        await this.#close().catch(() => {});
        throw error;
      }
    });
  }

  async close(): Promise<void> {
    await this.#turns.run(() => this.#close());
  }

  /** The oldest first. */
  async list(): Promise<PlanFile[]> {
    const names = await readdir(this.#folder).catch((error: unknown) => {
      if (isGone(error)) return [];
      throw error;
    });
    const files = await Promise.all(
      names.map(async (name): Promise<PlanFile[]> => {
        const [, first] = NAME.exec(name) ?? [];
        if (first === undefined) return [];
        const path = join(this.#folder, name);
        const found = await stat(path).catch(() => null);
        if (found === null) return [];
        const { size: bytes, mtimeMs: changedMs } = found;
        return [{ path, firstNumber: Number(first), bytes, changedMs }];
      }),
    );
    return files.flat().toSorted((a, b) => a.firstNumber - b.firstNumber);
  }

  /** Its bytes, none of a record that is being written; null: it has made room meanwhile. */
  async read({ path }: Pick<PlanFile, "path">): Promise<Buffer | null> {
    return await this.#turns.run(() =>
      readFile(path).catch((error: unknown) => {
        if (isGone(error)) return null;
        throw error;
      }),
    );
  }

  /** Removes what is too old. @param now of the host's clock */
  async prune(now = Date.now()): Promise<void> {
    await this.#turns.run(async () => {
      const files = await this.list();
      const last = this.#open === null ? null : files.at(-1);
      for (const file of files)
        if (file !== last && now - file.changedMs > this.#limits.keptMs)
          await rm(file.path, { force: true });
    });
  }

  async #begin(number: number): Promise<{ handle: FileHandle; bytes: number }> {
    await this.#close();
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const files = await this.list();
    let bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    for (const file of files) {
      if (bytes <= this.#limits.keptBytes) break;
      await rm(file.path, { force: true });
      bytes -= file.bytes;
    }
    const name = `plans-${String(number).padStart(12, "0")}.rec`;
    this.#open = { handle: await open(join(this.#folder, name), "wx", 0o600), bytes: 0 };
    return this.#open;
  }

  async #close(): Promise<void> {
    const file = this.#open;
    this.#open = null;
    await file?.handle.close();
  }
}

function isGone(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
