/** The signed checkpoints in a shard's folder. Whatever writes them does so here, one after the other: a merge never undoes a newer checkpoint. */
import { mkdir, readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  removeLeftovers,
  replaceFile,
  syncFolder,
  type WithRoom,
  writeImmutable,
} from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";

const MODE = 0o440;
const KEEP_EVERY_MS = 3_600_000;

export class CheckpointFiles {
  readonly #logDir: string;
  readonly #withRoom: WithRoom;
  readonly #turns = new Turns();
  /** Of `checkpoint`. */
  #size: number;
  #witnessedSize = 0;
  #keptMs: number;
  #witnessedMs: number | null;

  private constructor(
    logDir: string,
    withRoom: WithRoom,
    size: number,
    keptMs: number,
    witnessedMs: number | null,
  ) {
    this.#logDir = logDir;
    this.#withRoom = withRoom;
    this.#size = size;
    this.#keptMs = keptMs;
    this.#witnessedMs = witnessedMs;
  }

  /** @param size of the checkpoint that is there */
  static async open(logDir: string, size: number, withRoom: WithRoom): Promise<CheckpointFiles> {
    const kept = join(logDir, "checkpoints");
    for (const folder of [logDir, kept]) await removeLeftovers(folder);
    const names = await readdir(kept).catch(() => []);
    const times = await Promise.all(names.map((name) => changedMs(join(kept, name))));
    const keptMs = Math.max(0, ...times.filter((time) => time !== null));
    return new CheckpointFiles(
      logDir,
      withRoom,
      size,
      keptMs,
      await changedMs(join(logDir, "checkpoint.witnessed")),
    );
  }

  /** When the newest checkpoint with a quorum was had, milliseconds since the epoch; null when there was none yet. */
  get witnessedMs(): number | null {
    return this.#witnessedMs;
  }

  /** Leaves that a checkpoint with a quorum covers. */
  get witnessedSize(): number {
    return this.#witnessedSize;
  }

  /** What `checkpoint.witnessed` is worth by the policy. */
  set witnessedSize(size: number) {
    this.#witnessedSize = size;
  }

  /** `checkpoint.witnessed` as it stands; null when there is none. */
  async readWitnessed(): Promise<string | null> {
    return readFile(join(this.#logDir, "checkpoint.witnessed"), "utf8").catch((error: unknown) => {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    });
  }

  /** A checkpoint of a new size. Durable when it resolves, as all of these are. */
  publish(size: number, note: string): Promise<void> {
    return this.#turns.run(async () => {
      await this.#replace("checkpoint", note);
      this.#size = size;
    });
  }

  /** The same checkpoint with more signatures, unless a newer one has come. */
  merge(size: number, note: string): Promise<void> {
    return this.#turns.run(async () => {
      if (size === this.#size) await this.#replace("checkpoint", note);
    });
  }

  /** A checkpoint with a quorum, unless there is one of a newer; one an hour is kept for good. */
  setWitnessed(size: number, note: string): Promise<void> {
    return this.#turns.run(async () => {
      if (size < this.#witnessedSize) return;
      await this.#replace("checkpoint.witnessed", note);
      this.#witnessedSize = size;
      const nowMs = Date.now();
      this.#witnessedMs = nowMs;
      if (nowMs - this.#keptMs < KEEP_EVERY_MS) return;
      await this.#keep(size, note);
      this.#keptMs = nowMs;
    });
  }

  async #keep(size: number, note: string): Promise<void> {
    const folder = join(this.#logDir, "checkpoints");
    const path = join(folder, String(size));
    if ((await mkdir(folder, { recursive: true, mode: 0o750 })) !== undefined)
      await syncFolder(this.#logDir);
    if ((await changedMs(path)) !== null) return;
    await this.#withRoom(() => writeImmutable(path, Buffer.from(note)));
    await syncFolder(folder);
  }

  async #replace(name: string, note: string): Promise<void> {
    await this.#withRoom(() => replaceFile(join(this.#logDir, name), note, MODE));
  }
}

async function changedMs(path: string): Promise<number | null> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
}
