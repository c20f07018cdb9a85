/**
 * The write-ahead log: preallocated segments, one `fdatasync` a batch.
 *
 * Invariants: a segment is written with zeros and synced before its first batch, so a batch changes no metadata and can't run out of
 * space; a failed write or sync ends this object for good; a segment is deleted only when a durable checkpoint covers its batches, and after a
 * power cut the segments that are there are the newest ones, without a gap.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rename, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { syncFolder, type WithRoom, writeFully, writeNow } from "@resontech/frame/durable-file";
import { encodeBatch, FRAME_ALIGNMENT } from "./wal-frame.ts";

const ZEROS = Buffer.alloc(1_048_576);
const SEGMENT_NAME = /^[0-9]{12}\.seg$/;

type Segment = {
  path: string;
  handle: FileHandle;
  used: number /** One past its last leaf. */;
  end: number;
};

export class Wal {
  readonly #folder: string;
  readonly #segmentBytes: number;
  readonly #withRoom: WithRoom;
  #sequence: number;
  #current: Segment;
  #spare: Promise<Segment> | null = null;
  #filled: Segment[] = [];
  #failed: Error | null = null;

  private constructor(
    folder: string,
    segmentBytes: number,
    withRoom: WithRoom,
    sequence: number,
    current: Segment,
  ) {
    this.#folder = folder;
    this.#segmentBytes = segmentBytes;
    this.#withRoom = withRoom;
    this.#sequence = sequence;
    this.#current = current;
  }

  /** Starts a fresh segment after those that are there; recovery has read them, {@link removeSegments} removes them. */
  static async open(folder: string, segmentBytes: number, withRoom: WithRoom): Promise<Wal> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder))
      if (name.endsWith(".new")) await unlink(join(folder, name));
    const found = await segmentFiles(folder);
    // A life that was killed may have written a batch and not synced it: batches that follow must not outlive it.
    for (const name of found) await syncSegment(join(folder, name));
    const last = found.at(-1);
    const sequence = last === undefined ? 1 : Number(last.slice(0, 12)) + 1;
    const first = await withRoom(() => allocate(folder, sequence, segmentBytes));
    return new Wal(folder, segmentBytes, withRoom, sequence, first);
  }

  /**
   * Appends one batch; durable when it resolves. Batches must not overlap in time.
   * @throws the first failure, then and for ever
   */
  async append(firstIndex: number, leaves: Buffer[]): Promise<void> {
    if (this.#failed !== null) throw this.#failed;
    try {
      const frame = encodeBatch({ firstIndex, leaves });
      if (this.#current.used + frame.length > this.#segmentBytes) await this.#roll();
      const segment = this.#current;
      writeNow(segment.handle.fd, frame, segment.used);
      await segment.handle.datasync();
      segment.used += Math.ceil(frame.length / FRAME_ALIGNMENT) * FRAME_ALIGNMENT;
      segment.end = firstIndex + leaves.length;
      if (this.#spare === null && segment.used > this.#segmentBytes / 2) this.#prepareSpare();
    } catch (error) {
      this.#failed = error instanceof Error ? error : new Error(String(error));
      throw this.#failed;
    }
  }

  /** Deletes the filled segments that a durable checkpoint of `size` leaves covers. */
  async release(size: number): Promise<void> {
    const covered = this.#filled.filter(({ end }) => end <= size);
    this.#filled = this.#filled.filter(({ end }) => end > size);
    for (const { path, handle } of covered) {
      await handle.close();
      await removeSegment(path);
    }
  }

  /** False when somebody removed the segment that is being written: the bytes would go with the descriptor. */
  async isInPlace(): Promise<boolean> {
    return (await this.#current.handle.stat()).nlink > 0;
  }

  async close(): Promise<void> {
    const spare = await this.#spare?.catch(() => null);
    for (const { handle } of [...this.#filled, this.#current, ...(spare == null ? [] : [spare])])
      await handle.close();
  }

  async #roll(): Promise<void> {
    if (this.#spare === null) this.#prepareSpare();
    const next = await this.#spare!;
    this.#spare = null;
    this.#filled.push(this.#current);
    this.#current = next;
  }

  #prepareSpare(): void {
    this.#sequence += 1;
    const sequence = this.#sequence;
    this.#spare = this.#withRoom(() => allocate(this.#folder, sequence, this.#segmentBytes));
    // Its failure is told to the batch that needs the segment.
    this.#spare.catch(() => {});
  }
}

/** Names of the segments, oldest first. */
export async function segmentFiles(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  });
  return names.filter((name) => SEGMENT_NAME.test(name)).sort();
}

/** Removes segments whose batches a durable checkpoint covers, oldest first. */
export async function removeSegments(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await removeSegment(join(folder, name));
}

/** One is gone for good before the next one goes: after a power cut an older one must not be back while a newer one is not. */
async function removeSegment(path: string): Promise<void> {
  await unlink(path);
  await syncFolder(dirname(path));
}

async function syncSegment(path: string): Promise<void> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function allocate(folder: string, sequence: number, segmentBytes: number): Promise<Segment> {
  const path = join(folder, `${String(sequence).padStart(12, "0")}.seg`);
  const handle = await open(
    `${path}.new`,
    constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
    0o600,
  );
  try {
    for (let at = 0; at < segmentBytes; at += ZEROS.length)
      await writeFully(handle, ZEROS.subarray(0, Math.min(ZEROS.length, segmentBytes - at)), at);
    await handle.sync();
    await rename(`${path}.new`, path);
    await syncFolder(folder);
    return { path, handle, used: 0, end: 0 };
  } catch (error) {
    await handle.close();
    await unlink(`${path}.new`).catch(() => {});
    throw error;
  }
}
