/**
 * The disk of the node's agent, on which all members' file systems grow. Near its end what a job writes would be lost under it, so a part
 * is held back: it is given up when the rest is used, the members are ended while there still is room for their writes, and nothing is
 * begun until there is enough again.
 */
import { execFileSync } from "node:child_process";
import { renameSync, rmSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { NODE_LADDER } from "@resontech/contracts/disk-ladder";

export class NodeDisk {
  readonly #dataDir: string;
  readonly #reserve: string;
  readonly #onNoRoom: () => void;
  #isFull: boolean;

  /** @param onNoRoom a write of our own found no room, and the disk had not counted as full */
  constructor(dataDir: string, onNoRoom: () => void = () => undefined) {
    this.#dataDir = dataDir;
    this.#onNoRoom = onNoRoom;
    this.#reserve = join(dataDir, "reserve");
    this.#isFull = !this.#isHeld() && this.#freeBytes() < NODE_LADDER.enoughBytes;
    this.check();
  }

  /** As it was found by the last check, or by a write since then that had no room. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** Looks again: gives the reserve up at the end of the disk, takes it back when there is enough. */
  check(): boolean {
    const freeBytes = this.#freeBytes();
    if (freeBytes < NODE_LADDER.fullBytes) this.#giveUp();
    else if (freeBytes >= NODE_LADDER.enoughBytes || this.#isHeld()) {
      if (!this.#isHeld()) this.#take();
      this.#isFull = false;
    }
    return this.#isFull;
  }

  /** A small write of our own: where it has no room it gets the reserve's. Safe to repeat. */
  withRoom<T>(write: () => T): T {
    try {
      return write();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
      const isNews = !this.#isFull;
      this.#giveUp();
      if (isNews) this.#onNoRoom();
      return write();
    }
  }

  #giveUp(): void {
    this.#isFull = true;
    rmSync(this.#reserve, { force: true });
  }

  /** Without a word where others are quicker (the next look finds that), or where the file system can't hold anything back. */
  #take(): void {
    const beside = `${this.#reserve}.part`;
    try {
      execFileSync("fallocate", ["--length", String(NODE_LADDER.heldBytes), beside], {
        stdio: "pipe",
      });
      renameSync(beside, this.#reserve);
    } catch {
      rmSync(beside, { force: true });
    }
  }

  #isHeld(): boolean {
    return statSync(this.#reserve, { throwIfNoEntry: false })?.size === NODE_LADDER.heldBytes;
  }

  #freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.#dataDir);
    return bavail * bsize;
  }
}
