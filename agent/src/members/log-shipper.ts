import { closeSync, existsSync, fstatSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { formatFence, type Fence } from "@resontech/contracts/fence";
import type { CoordinatorClient } from "../bus/coordinator-client.ts";
import type { Uploader } from "../outputs/uploader.ts";

const MAX_CHUNK_BYTES = 1024 * 1024;
const EVERY_MS = 5_000;
/** Live tail of a job, a second. */
const TAIL_BYTES_PER_S = 256 * 1024;
/** A text message holds at most 256 KiB; UTF-16 halves of it are always enough. */
const TAIL_MESSAGE_CHARS = 64 * 1024;

export type LogPosition = { logOffset: number; logSeq: number };

/** Ships a member's output in chunks of at most 1 MiB or 5 s, and lets those who watch see it live. */
export class LogShipper {
  readonly #coordinator: CoordinatorClient;
  readonly #uploader: Uploader;
  readonly #job: string;
  readonly #member: { member: string; fence: Fence };
  readonly #file: string;
  readonly #scratch: string;
  #shippedAtMs = 0;
  #tailOffset: number;
  #tailBudget = TAIL_BYTES_PER_S;
  #tailAtMs = 0;

  constructor(options: {
    coordinator: CoordinatorClient;
    uploader: Uploader;
    job: string;
    member: { member: string; fence: Fence };
    file: string;
    folder: string;
    from: number;
  }) {
    this.#coordinator = options.coordinator;
    this.#uploader = options.uploader;
    this.#job = options.job;
    this.#member = options.member;
    this.#file = options.file;
    this.#scratch = join(options.folder, "log-chunk");
    this.#tailOffset = options.from;
  }

  /**
   * Ships what is due; answers the new position, or null when nothing was.
   * @param last ship what there is, whatever its age and size
   */
  async ship(position: LogPosition, nowMs: number, last: boolean, signal: AbortSignal): Promise<LogPosition | null> {
    this.#tail(nowMs);
    const size = sizeOf(this.#file);
    const waiting = size - position.logOffset;
    if (waiting <= 0 || (!last && waiting < MAX_CHUNK_BYTES && nowMs - this.#shippedAtMs < EVERY_MS)) return null;
    this.#shippedAtMs = nowMs;
    const chunk = readAt(this.#file, position.logOffset, Math.min(waiting, MAX_CHUNK_BYTES));
    writeFileSync(this.#scratch, chunk, { mode: 0o600 });
    const key = `${this.#member.member}-${formatFence(this.#member.fence)}/${String(position.logSeq).padStart(8, "0")}`;
    await this.#uploader.upload(this.#member, { file: this.#scratch, key, log: true }, signal);
    rmSync(this.#scratch, { force: true });
    return { logOffset: position.logOffset + chunk.length, logSeq: position.logSeq + 1 };
  }

  #tail(nowMs: number): void {
    this.#tailBudget = Math.min(TAIL_BYTES_PER_S, this.#tailBudget + ((nowMs - this.#tailAtMs) / 1000) * TAIL_BYTES_PER_S);
    this.#tailAtMs = nowMs;
    const size = sizeOf(this.#file);
    let waiting = size - this.#tailOffset;
    if (waiting <= 0) return;
    if (waiting > this.#tailBudget) {
      const dropped = Math.floor(waiting - this.#tailBudget);
      this.#tailOffset += dropped;
      waiting -= dropped;
      this.#coordinator.tail({
        job: this.#job,
        member: this.#member.member,
        text: `… ${dropped} bytes are not shown here; the stored log has them …\n`,
      });
    }
    this.#tailBudget -= waiting;
    const text = readAt(this.#file, this.#tailOffset, waiting).toString("utf8");
    this.#tailOffset += waiting;
    for (let from = 0; from < text.length; from += TAIL_MESSAGE_CHARS) {
      this.#coordinator.tail({ job: this.#job, member: this.#member.member, text: text.slice(from, from + TAIL_MESSAGE_CHARS) });
    }
  }
}

function sizeOf(file: string): number {
  if (!existsSync(file)) return 0;
  const fd = openSync(file, "r");
  try {
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
}

function readAt(file: string, offset: number, length: number): Buffer {
  const fd = openSync(file, "r");
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(fd, bytes, 0, length, offset));
  } finally {
    closeSync(fd);
  }
}
