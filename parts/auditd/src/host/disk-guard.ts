/**
 * Watches the disk of the log. Near its end auditd asks for drain; nearer still, and at once for a write that has no room, it gives up
 * ballast, step by step, so that what runs can end, people can sign in and the log can be exported.
 */
import { constants } from "node:fs";
import { mkdir, open, readdir, rename, rm, statfs, unlink } from "node:fs/promises";
import { join } from "node:path";
import { refusesBelow } from "@resontech/contracts/log-reserve";
import { isFullDisk, syncFolder } from "@resontech/frame/durable-file";
import { Turns } from "@resontech/frame/turns";

const CHUNK = Buffer.alloc(1_048_576);
const STEP_NAME = /^[0-9]{6}\.zero$/;
/** Fewer free inodes than this drain too: a checkpoint makes files. */
const MIN_FREE_INODES = 4_096;

export type DiskState = { freeBytes: number; ballastBytes: number; draining: boolean };

export class DiskGuard {
  readonly #auditDir: string;
  readonly #folder: string;
  readonly #wantedSteps: number;
  readonly #stepBytes: number;
  readonly #segmentBytes: number;
  /** What the write path needs for its next segment and checkpoint. */
  readonly #neededBytes: number;
  readonly #onNoRoom: () => void;
  readonly #turns = new Turns();
  /** Steps that were given up since the start. */
  #given = 0;

  /** @param onNoRoom a write found the disk full and was given ballast */
  constructor(
    options: {
      auditDir: string;
      ballastBytes: number;
      ballastStepBytes: number;
      segmentBytes: number;
    },
    onNoRoom: () => void,
  ) {
    this.#auditDir = options.auditDir;
    this.#folder = join(options.auditDir, "ballast");
    this.#stepBytes = options.ballastStepBytes;
    this.#wantedSteps = Math.ceil(options.ballastBytes / options.ballastStepBytes);
    this.#segmentBytes = options.segmentBytes;
    this.#neededBytes = 2 * options.segmentBytes;
    this.#onNoRoom = onNoRoom;
  }

  /** Gives up or takes back at most one step of ballast, and says how the disk stands. */
  async check(): Promise<DiskState> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const steps = await this.#steps();
    const { freeBytes, inodesLow } = await this.#free();
    const held = steps.length * this.#stepBytes;
    const wantedBytes = this.#wantedSteps * this.#stepBytes;
    const drainBelow = refusesBelow({
      ...{ wantedBytes, heldBytes: held, segmentBytes: this.#segmentBytes },
    });
    if (freeBytes < this.#neededBytes && (await this.#giveUpStep())) {
      return {
        freeBytes: freeBytes + this.#stepBytes,
        ballastBytes: held - this.#stepBytes,
        draining: true,
      };
    }
    // A release before may have held back more.
    if (steps.length > this.#wantedSteps && (await this.#giveUpStep()))
      return {
        freeBytes: freeBytes + this.#stepBytes,
        ballastBytes: held - this.#stepBytes,
        draining: inodesLow || freeBytes + this.#stepBytes < drainBelow,
      };
    if (steps.length < this.#wantedSteps && freeBytes >= drainBelow + this.#stepBytes) {
      if (!(await this.#fill(steps))) return { freeBytes, ballastBytes: held, draining: true };
      return {
        freeBytes: freeBytes - this.#stepBytes,
        ballastBytes: held + this.#stepBytes,
        draining: inodesLow,
      };
    }
    return { freeBytes, ballastBytes: held, draining: inodesLow || freeBytes < drainBelow };
  }

  /** @throws what `write` throws, a full disk only once no ballast is left */
  async withRoom<T>(write: () => Promise<T>): Promise<T> {
    for (;;) {
      const given = this.#given;
      try {
        return await write();
      } catch (error) {
        if (!isFullDisk(error) || !(await this.#makeRoom(given))) throw error;
        this.#onNoRoom();
      }
    }
  }

  /**
   * Another write, or the watch, may have given up the last step since the write began: then there is room already.
   * @param given steps that had been given up when it began
   */
  async #makeRoom(given: number): Promise<boolean> {
    return await this.#turns.run(async () => this.#given !== given || (await this.#removeStep()));
  }

  async #steps(): Promise<string[]> {
    return (await readdir(this.#folder)).filter((name) => STEP_NAME.test(name)).sort();
  }

  async #giveUpStep(): Promise<boolean> {
    return await this.#turns.run(() => this.#removeStep());
  }

  /** One at a time. False when there was none. */
  async #removeStep(): Promise<boolean> {
    const last = (await this.#steps()).at(-1);
    if (last === undefined) return false;
    for (const name of [last, `${last}.new`]) await rm(join(this.#folder, name), { force: true });
    await syncFolder(this.#folder);
    this.#given += 1;
    return true;
  }

  async #free(): Promise<{ freeBytes: number; inodesLow: boolean }> {
    const { bavail, bsize, ffree, files } = await statfs(this.#auditDir);
    // File systems without a fixed number of inodes report none at all.
    return { freeBytes: bavail * bsize, inodesLow: files > 0 && ffree < MIN_FREE_INODES };
  }

  /**
   * The first step that is not there, as after a power cut any may be. Written zeros: Node has no fallocate, and a sparse file holds nothing back.
   * False when others took the room meanwhile.
   */
  async #fill(steps: readonly string[]): Promise<boolean> {
    const names = Array.from(
      { length: steps.length + 1 },
      (_, step) => `${String(step).padStart(6, "0")}.zero`,
    );
    const path = join(this.#folder, names.find((name) => !steps.includes(name))!);
    // Never over what is there: after a power cut it may be another name of a step.
    await rm(`${path}.new`, { force: true });
    const handle = await open(
      `${path}.new`,
      constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
      0o600,
    );
    try {
      for (let left = this.#stepBytes; left > 0; left -= CHUNK.length)
        await handle.appendFile(CHUNK.subarray(0, Math.min(CHUNK.length, left)));
      await handle.sync();
    } catch (error) {
      if (!isFullDisk(error)) throw error;
      await unlink(`${path}.new`);
      return false;
    } finally {
      await handle.close();
    }
    // A name that a power cut takes back is filled again.
    await rename(`${path}.new`, path);
    return true;
  }
}
