/** What the outside world was told, and before which call: none of it may be taken back by a power cut. */
import { type Disk, DiskFile } from "./disk-model.ts";
import type { Call } from "./recording.ts";

/** What the recording was told between calls: what a producer had in hand, or that the ceremony had ended. */
export type Mark = { acks: readonly Ack[] } | { initialized: true };

export type Ack = { pseq: number; index: number; leafHash: string };
export type SeenCheckpoint = { size: number; root: string };
type Timed<T> = { at: number; told: T };

export class Promises {
  readonly #acks: Timed<Ack>[];
  readonly #checkpoints: Timed<SeenCheckpoint>[];
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
      else for (const told of mark.acks) this.#acks.push({ at, told });
    }
    // From this moment on anybody may have read it.
    if (call.op === "rename" && call.to.endsWith("/checkpoint")) {
      const file = disk.lookup(call.to);
      if (file instanceof DiskFile) this.#checkpoints.push({ at, told: parseCheckpoint(file.current().toString("utf8")) });
    }
  }

  acksBefore(point: number): Ack[] {
    return before(this.#acks, point);
  }

  checkpointsBefore(point: number): SeenCheckpoint[] {
    return before(this.#checkpoints, point);
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
export function parseCheckpoint(note: string): SeenCheckpoint {
  const [, size = "", root = ""] = note.split("\n");
  return { size: Number(size), root };
}
