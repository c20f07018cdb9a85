/**
 * Inputs of one project's members, kept between these on the nodes of its own pool. Invariants:
 *
 * - What is here is of one owner, whose name is the folder's. {@link InputCache.follow} leaves nothing of another one, whatever a killed process left.
 * - No member sees it: each has copies on its own disk.
 * - A file has its name once it is whole, and the name says its digest, which whoever copies it checks.
 *
 * It lies among the members' folders, where an agent of an older release removes it before it starts any member: no record knows it.
 */
import {
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  utimesSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { InputCacheRule, StagedInput } from "@resontech/contracts/agent-protocol";
import { NODE_LADDER } from "@resontech/contracts/disk-ladder";
import type { Logger } from "pino";
import {
  chooseEvictions,
  type KeptFile,
  keptKey,
  keptName,
  readKeptName,
} from "../decisions/kept-inputs.ts";

const REMOVAL_TRIES = 10;
/** Of more the agent's own work with them would take long. */
const MOST_FILES = 20_000;

/** A kept input in use: it stays until it is let go. */
export interface KeptInput extends Disposable {
  readonly path: string;
  /** What the file must be found to be. */
  readonly sha256: string;
  /** It was found to be something else, or its object is gone: nobody gets it again. */
  drop(): void;
}

/** Room for an input on its way to a member; what is not committed is removed. */
export interface InputFilling extends Disposable {
  readonly path: string;
  /** @param sha256 of what was written there, in hex; null where it was not written whole */
  commit(sha256: string | null): void;
}

export type InputCacheParts = {
  folder: string;
  freeBytes: () => number;
  now: () => number;
  log: Pick<Logger, "info" | "warn">;
};

export class InputCache {
  readonly #parts: InputCacheParts;
  /** By key; the least recently used first. */
  readonly #files = new Map<string, KeptFile>();
  #bytes = 0;
  /** How many members copy a file now. */
  readonly #uses = new Map<string, number>();
  /** Bytes that fillings may still take. */
  #promisedBytes = 0;
  #rule: InputCacheRule | null = null;
  /** Fillings of an earlier one are worth nothing. */
  #generation = 0;
  #lastFilling = 0;

  constructor(parts: InputCacheParts) {
    this.#parts = parts;
  }

  /** What kept files take; null where nothing may be kept. */
  get inUseBytes(): number | null {
    return this.#rule === null ? null : this.#bytes;
  }

  /**
   * The node is to keep inputs of this owner, and so many: what else is here goes first. Absent: nothing is kept.
   * @throws where something of another owner is left: no member may begin then
   */
  async follow(rule: InputCacheRule | undefined): Promise<void> {
    if (rule === undefined || rule.owner !== this.#rule?.owner) this.#forget();
    await this.#removeOthers(rule?.owner ?? null);
    if (rule === undefined) return;
    if (this.#rule === null && !this.#adopt(rule.owner)) return;
    this.#rule = rule;
    this.#giveUp(this.#bytes + this.#promisedBytes - rule.maxBytes);
  }

  /** Null where it is not kept, for whom it is not, and where the file is not as it was. */
  find(owner: string | undefined, input: StagedInput): KeptInput | null {
    if (owner === undefined || owner !== this.#rule?.owner) return null;
    const file = this.#files.get(keptKey(input) ?? "");
    if (file === undefined) return null;
    const { key, sha256 } = file;
    const path = this.#place(owner, keptName(file));
    if (statSync(path, { throwIfNoEntry: false })?.size !== input.sizeBytes) {
      this.#remove(file);
      return null;
    }
    this.#touch(path, file);
    this.#uses.set(key, (this.#uses.get(key) ?? 0) + 1);
    const generation = this.#generation;
    return {
      ...{ path, sha256 },
      drop: () => {
        if (generation === this.#generation && this.#files.get(key)?.sha256 === sha256)
          this.#remove(file);
      },
      [Symbol.dispose]: () => {
        if (generation !== this.#generation) return;
        const uses = (this.#uses.get(key) ?? 1) - 1;
        if (uses === 0) this.#uses.delete(key);
        else this.#uses.set(key, uses);
      },
    };
  }

  /** Null where it is not to be kept, or there is no room for it. */
  begin(owner: string | undefined, input: StagedInput): InputFilling | null {
    const key = keptKey(input);
    const { sizeBytes } = input;
    if (owner === undefined || owner !== this.#rule?.owner || key === null) return null;
    const { maxBytes } = this.#rule;
    if (sizeBytes > maxBytes || !this.#hasRoomFor(sizeBytes)) return null;
    this.#promisedBytes += sizeBytes;
    this.#lastFilling += 1;
    const path = this.#place(owner, `filling-${this.#lastFilling}`);
    const generation = this.#generation;
    let isOpen = true;
    const close = (): void => {
      isOpen = false;
      if (generation === this.#generation) this.#promisedBytes -= sizeBytes;
      rmSync(path, { force: true });
    };
    return {
      path,
      commit: (sha256) => {
        if (!isOpen) return;
        if (sha256 !== null && generation === this.#generation)
          this.#take(owner, path, { key, sizeBytes, sha256 });
        close();
      },
      [Symbol.dispose]: () => {
        if (isOpen) close();
      },
    };
  }

  /** The disk fills: what is kept goes before anything else does. */
  makeRoom(): void {
    if (this.#files.size > 0) this.#giveUp(NODE_LADDER.keptBytes - this.#parts.freeBytes());
  }

  /** True once there is, within the rule and on the disk; what was used least goes for it. */
  #hasRoomFor(sizeBytes: number): boolean {
    const { freeBytes } = this.#parts;
    const missing = Math.max(
      this.#bytes + this.#promisedBytes + sizeBytes - (this.#rule?.maxBytes ?? 0),
      NODE_LADDER.keptBytes + this.#promisedBytes + sizeBytes - freeBytes(),
    );
    const isMost = this.#files.size >= MOST_FILES;
    return this.#shrinkBy(Math.max(missing, isMost ? 1 : 0));
  }

  #take(owner: string, path: string, file: KeptFile): void {
    try {
      if (statSync(path).size !== file.sizeBytes) return;
      const former = this.#files.get(file.key);
      if (former !== undefined) this.#remove(former);
      renameSync(path, this.#place(owner, keptName(file)));
      this.#files.set(file.key, file);
      this.#bytes += file.sizeBytes;
    } catch (error) {
      this.#parts.log.warn({ err: error }, "an input could not be kept");
    }
  }

  #forget(): void {
    this.#rule = null;
    this.#files.clear();
    this.#bytes = 0;
    this.#uses.clear();
    this.#promisedBytes = 0;
    this.#generation += 1;
  }

  /** Makes the owner's folder, and takes up what a former process left there whole. False where it can't: nothing is kept then, and members begin. */
  #adopt(owner: string): boolean {
    try {
      this.#takeUp(owner);
      return true;
    } catch (error) {
      this.#parts.log.warn({ err: error }, "inputs can't be kept");
      this.#forget();
      return false;
    }
  }

  #takeUp(owner: string): void {
    const folder = this.#place(owner);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found: (KeptFile & { usedAtMs: number })[] = [];
    for (const name of readdirSync(folder)) {
      const known = readKeptName(name);
      const path = join(folder, name);
      const { size: sizeBytes, mtimeMs: usedAtMs } = statSync(path);
      if (known === null) rmSync(path, { recursive: true, force: true });
      else found.push({ ...known, sizeBytes, usedAtMs });
    }
    for (const { usedAtMs: _, ...file } of found.toSorted((a, b) => a.usedAtMs - b.usedAtMs)) {
      const former = this.#files.get(file.key);
      if (former !== undefined) this.#remove(former, owner);
      this.#files.set(file.key, file);
      this.#bytes += file.sizeBytes;
    }
  }

  async #removeOthers(owner: string | null): Promise<void> {
    const { folder, log } = this.#parts;
    const others = namesIn(folder).filter((name) => name !== owner);
    for (const name of others) {
      const place = join(folder, name);
      const files = namesIn(place);
      const bytes = files.reduce(
        (sum, file) => sum + (statSync(join(place, file), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
      // A filling that was under way may put one more file there meanwhile.
      await rm(place, { recursive: true, force: true, maxRetries: REMOVAL_TRIES });
      log.info({ files: files.length, bytes }, "inputs of a former owner are kept no more");
    }
    if (namesIn(folder).some((name) => name !== owner))
      throw new Error("inputs of another owner are left on this node");
    if (owner === null) rmSync(folder, { recursive: true, force: true });
  }

  /** False where not so much may go; nothing goes then. */
  #shrinkBy(bytes: number): boolean {
    if (bytes <= 0) return true;
    const chosen = chooseEvictions(this.#files.values(), bytes, (key) => this.#uses.has(key));
    for (const file of chosen ?? []) this.#remove(file);
    return chosen !== null;
  }

  /** So much of it goes as may. */
  #giveUp(bytes: number): void {
    if (bytes <= 0) return;
    const mayGo = [...this.#files.values()].filter(({ key }) => !this.#uses.has(key));
    this.#shrinkBy(Math.min(bytes, sumOf(mayGo)));
  }

  #remove(file: KeptFile, owner = this.#rule!.owner): void {
    rmSync(this.#place(owner, keptName(file)), { force: true });
    if (this.#files.delete(file.key)) this.#bytes -= file.sizeBytes;
  }

  #touch(path: string, file: KeptFile): void {
    const now = this.#parts.now();
    this.#files.delete(file.key);
    this.#files.set(file.key, file);
    try {
      utimesSync(path, now / 1_000, now / 1_000);
    } catch {
      // It only orders what goes first.
    }
  }

  #place(owner: string, ...rest: string[]): string {
    return join(this.#parts.folder, owner, ...rest);
  }
}

/** What is free on the disk of a folder. */
export function freeBytesOf(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

function sumOf(files: readonly KeptFile[]): number {
  return files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw error;
  }
}
