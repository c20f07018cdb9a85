/**
 * What the witness remembers: one file for each log, replaced in one step and synced before anything is answered. It is read again for each
 * request, so a log that was admitted meanwhile is known, and nothing in memory can differ from the disk.
 */
import { createHash } from "node:crypto";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile, syncFolder, writeImmutable } from "@resontech/frame/durable-file";
import { type NoteKey, parseVerifierKey, verifierKey } from "@resontech/audit/format/note/note-key";
import type { LastCosigned } from "./add-checkpoint.ts";
import { WitnessError } from "./errors.ts";

export type LogState = LastCosigned & {
  origin: string;
  keys: NoteKey[];
  /** Of the newest cosignature, seconds; 0 before the first. */
  timeS: number;
  /** The newest cosigned checkpoint with the log's signatures and the witness's; empty before the first. */
  note: string;
  /** After a restore: the shard that goes on for it. Nothing of this one is cosigned any more. */
  followedBy: string | null;
};

const MODE = 0o600;

/** Names the log in URLs and files: tlog-witness, "Monitor Retrieval". */
export function originHash(origin: string): string {
  return createHash("sha256").update(origin).digest("hex");
}

export class LogStates {
  readonly #folder: string;

  constructor(dir: string) {
    this.#folder = join(dir, "logs");
  }

  /** Null for a log that was not admitted. @throws WitnessError */
  find(origin: string): Promise<LogState | null> {
    return this.#read(`${originHash(origin)}.json`);
  }

  /** By the hash of its origin. @throws WitnessError */
  findByHash(hash: string): Promise<LogState | null> {
    return this.#read(`${hash}.json`);
  }

  /** Every log, by origin. @throws WitnessError */
  async all(): Promise<LogState[]> {
    const files = (await readdir(this.#folder)).filter((file) => file.endsWith(".json"));
    const states = await Promise.all(files.map((file) => this.#read(file)));
    return states.filter((state) => state !== null).sort((a, b) => (a.origin < b.origin ? -1 : 1));
  }

  async makeFolder(): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
  }

  /** Durable when it resolves. */
  async replace(state: LogState): Promise<void> {
    await replaceFile(this.#pathOf(state.origin), encode(state), MODE);
  }

  /** A log that was not known; durable when it resolves. Never replaces what is there. @throws ImmutableFileError */
  async add(origin: string, keys: NoteKey[]): Promise<void> {
    await writeImmutable(
      this.#pathOf(origin),
      Buffer.from(
        encode({ origin, keys, size: 0, root: null, timeS: 0, note: "", followedBy: null }),
      ),
    );
    await syncFolder(this.#folder);
  }

  #pathOf(origin: string): string {
    return join(this.#folder, `${originHash(origin)}.json`);
  }

  async #read(file: string): Promise<LogState | null> {
    const path = join(this.#folder, file);
    let text: string;
    try {
      text = await readFile(path, "utf8");
    } catch (error) {
      if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
      throw error;
    }
    const state = decode(text);
    if (state === null || `${originHash(state.origin)}.json` !== file)
      throw new WitnessError(
        "state_damaged",
        `${path} is not what this witness wrote; without it nothing of that log is cosigned`,
      );
    return state;
  }
}

function encode({ keys, root, ...state }: LogState): string {
  return `${JSON.stringify({ ...state, keys: keys.map(verifierKey), root: root?.toString("hex") ?? null })}\n`;
}

function decode(text: string): LogState | null {
  try {
    const {
      origin,
      keys,
      size,
      root,
      timeS,
      note,
      followedBy = null,
    } = JSON.parse(text) as Record<string, unknown>;
    const isWhole =
      typeof origin === "string" &&
      Array.isArray(keys) &&
      Number.isSafeInteger(size) &&
      Number.isSafeInteger(timeS) &&
      typeof note === "string" &&
      (followedBy === null || typeof followedBy === "string") &&
      (root === null ? size === 0 : typeof root === "string" && /^[0-9a-f]{64}$/.test(root));
    if (!isWhole) return null;
    return {
      origin,
      keys: keys.map((key) => parseVerifierKey(String(key))),
      size: size as number,
      root: root === null ? null : Buffer.from(root as string, "hex"),
      timeS: timeS as number,
      note,
      followedBy,
    };
  } catch {
    return null;
  }
}
