/** What the outside world was told, and before which call: none of it may be taken back by a power cut. */
import { basename, dirname } from "node:path";
import { type Disk, DiskFile, isKey } from "./disk-model.ts";
import type { Call } from "./recording.ts";

/**
 * What the recording was told between calls: what a producer had in hand; that the ceremony had ended; of the year that goes by, that its end is near,
 * that somebody is about to say that it is over, and that the next one's shard has begun.
 */
export type Mark = { acks: readonly Ack[] } | { initialized: true } | TurnMark;
export type TurnMark = { year: number; turn: "comes" | "begins" | "ended" };

export type Ack = { pseq: number; index: number; leafHash: string };
export type SeenCheckpoint = { slug: string; size: number; root: string };
/** A private key file, whose shard `slug` names. */
export type Secret = { slug: string; text: string };
type Timed<T> = { at: number; told: T };

export class Promises {
  readonly #acks: Timed<Ack>[];
  readonly #checkpoints: Timed<SeenCheckpoint>[];
  readonly #secrets: Timed<Secret>[] = [];
  readonly #ended: Timed<number>[] = [];
  #initializedAt: number;

  /** @param kept what was told before this record began; null before there was a log */
  constructor(kept: { acks: readonly Ack[]; checkpoints: readonly SeenCheckpoint[] } | null) {
    this.#acks = (kept?.acks ?? []).map((told) => ({ at: 0, told }));
    this.#checkpoints = (kept?.checkpoints ?? []).map((told) => ({ at: 0, told }));
    this.#initializedAt = kept === null ? Number.POSITIVE_INFINITY : 0;
  }

  /** Call after the disk has applied `call`. */
  note(call: Call, disk: Disk): void {
    const at = disk.position;
    if (call.op === "mark") {
      const mark = call.mark as Mark;
      if ("initialized" in mark) this.#initializedAt = at;
      if ("turn" in mark && mark.turn === "ended") this.#ended.push({ at, told: mark.year });
      if ("acks" in mark) for (const told of mark.acks) this.#acks.push({ at, told });
    }
    const file = call.op === "rename" ? disk.lookup(call.to) : null;
    if (!(file instanceof DiskFile)) return;
    const text = file.current().toString("utf8");
    // From this moment on anybody may have read it.
    if (file.path.endsWith("/checkpoint"))
      this.#checkpoints.push({
        at,
        told: { slug: basename(dirname(file.path)), ...parseCheckpoint(text) },
      });
    if (isKey(file.path))
      this.#secrets.push({ at, told: { slug: basename(file.path).split(".", 1)[0]!, text } });
  }

  acksBefore(point: number): Ack[] {
    return before(this.#acks, point);
  }

  checkpointsBefore(point: number): SeenCheckpoint[] {
    return before(this.#checkpoints, point);
  }

  /** Private keys that had been made. */
  secretsBefore(point: number): Secret[] {
    return before(this.#secrets, point);
  }

  /** Years of which others had been told that the next one's shard has begun. */
  endedBefore(point: number): number[] {
    return before(this.#ended, point);
  }

  /** The ceremony had told that there is a log. */
  isInitialized(point: number): boolean {
    return this.#initializedAt <= point;
  }
}

function before<T>(all: readonly Timed<T>[], point: number): T[] {
  return all.filter(({ at }) => at <= point).map(({ told }) => told);
}

/** Lines two and three; who signed it is the product's to judge. */
export function parseCheckpoint(note: string): Omit<SeenCheckpoint, "slug"> {
  const [, size = "", root = ""] = note.split("\n");
  return { size: Number(size), root };
}
