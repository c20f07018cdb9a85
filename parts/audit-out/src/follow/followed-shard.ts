/** One shard as it is followed: what is believed of it, and why no more. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import { CheckpointRefused, openTrustedCheckpoint } from "./trusted-checkpoint.ts";
import { keepEvidence, readSeen, writeSeen } from "./seen-file.ts";
import { LogChangedError, VerifiedTree } from "./verified-tree.ts";

/** Why a shard can't be believed any further; what was proven before still holds. */
export type LogFault = { code: string; message: string };
export type ShardPlace = { slug: string; origin: string; logDir: string; stateDir: string };

export class FollowedShard {
  readonly slug: string;
  readonly origin: string;
  readonly logDir: string;
  readonly #stateDir: string;
  #tree: VerifiedTree;
  #isResumed = false;
  fault: LogFault | null = null;
  /** Another one follows it and it was read to its end since: it is not looked at again. */
  isSettled = false;
  /** It is not looked at before, by the clock of `performance`: it is damaged, no restore explains it, and each look costs. */
  notBeforeMs = 0;

  constructor({ slug, origin, logDir, stateDir }: ShardPlace) {
    this.slug = slug;
    this.origin = origin;
    this.logDir = logDir;
    this.#stateDir = stateDir;
    this.#tree = VerifiedTree.empty(logDir, origin);
  }

  get tree(): VerifiedTree {
    return this.#tree;
  }

  /**
   * Believes what is new, if it extends what was believed.
   * @returns whether there is more to read
   * @throws CheckpointRefused, LogChangedError, LogDamagedError
   */
  async refresh(keys: readonly NoteKey[], signal: AbortSignal): Promise<boolean> {
    const before = this.#isResumed ? this.#tree.size : 0;
    if (!this.#isResumed) {
      const seen = await readSeen(this.#stateDir, this.slug, this.origin, keys);
      if (seen !== null) this.#tree = await VerifiedTree.resume(this.logDir, seen);
      this.#isResumed = true;
    }
    const note = await this.#readNote();
    const { note: believed, size } = this.#tree.checkpoint;
    if (!note.equals(Buffer.from(believed, "utf8")))
      await this.#tree.extendTo(openTrustedCheckpoint(note, this.origin, keys), signal);
    if (this.#tree.size > size) await writeSeen(this.#stateDir, this.slug, this.#tree.checkpoint);
    return this.#tree.size > before;
  }

  /**
   * Begins again with what the folder holds now: a restore cut this shard short, and another one follows it. What was seen of it before stays
   * on record, and so does the fault.
   */
  async startOver(keys: readonly NoteKey[], signal: AbortSignal): Promise<void> {
    const tree = VerifiedTree.empty(this.logDir, this.origin);
    await tree.extendTo(openTrustedCheckpoint(await this.#readNote(), this.origin, keys), signal);
    this.#tree = tree;
    this.#isResumed = true;
  }

  /** What is gone, or lost by the disk, is damaged like any file of the log; whatever else keeps it from being read may pass. */
  async #readNote(): Promise<Buffer> {
    try {
      return await readFile(join(this.logDir, "checkpoint"));
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : null;
      if (code === "ENOENT" || code === "EIO")
        throw new LogDamagedError(this.#tree.size, `checkpoint can't be read (${code})`);
      throw error;
    }
  }

  /** @returns whether this is another fault than the one that it had */
  async fail(error: unknown): Promise<boolean> {
    const before = this.fault;
    // Whoever hears of the fault finds the evidence.
    if (error instanceof LogChangedError)
      await keepEvidence(this.#stateDir, this.slug, error.believed, error.found);
    this.fault = faultOf(error);
    return before?.code !== this.fault.code || before.message !== this.fault.message;
  }
}

export function faultOf(error: unknown): LogFault {
  const isOurs =
    error instanceof LogChangedError ||
    error instanceof LogDamagedError ||
    error instanceof CheckpointRefused;
  return {
    code: isOurs ? error.code : "log_unreadable",
    message: error instanceof Error ? error.message : String(error),
  };
}
