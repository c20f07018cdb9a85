/** A member's output on its way: in chunks of at most 1 MiB or 5 s to the object store, and live to those who watch. */
import { readSync } from "node:fs";
import type { TailMessage } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import { SharedRun } from "@resontech/daemon/shared-run";
import { persist } from "../bus/persist.ts";
import { tailPieces } from "../decisions/tail-pieces.ts";
import type { JobFile } from "../substrate/area.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";
import type { MemberContext } from "./member-context.ts";

const MAX_CHUNK_BYTES = 1024 * 1024;
const EVERY_MS = 5_000;

export class LogShipper {
  readonly #member: MemberContext;
  readonly #shipping = new SharedRun();
  #beganAtMs = 0;
  #tailed: number;

  constructor(member: MemberContext) {
    this.#member = member;
    this.#tailed = member.journal.state.logOffset;
  }

  /** Sends the live tail, and starts to ship what is due unless a chunk is on its way. */
  async tick(nowMs: number): Promise<void> {
    using file = await this.#open();
    if (file === null) return;
    this.#tail(file, nowMs);
    const waiting = file.sizeBytes - this.#member.journal.state.logOffset;
    const isDue =
      waiting >= MAX_CHUNK_BYTES || (waiting > 0 && nowMs - this.#beganAtMs >= EVERY_MS);
    if (!isDue || this.#shipping.isUnderWay) return;
    this.#beganAtMs = nowMs;
    void this.#shipping.run(() => this.#shipOrWait());
  }

  /** Waits for the chunk that is on its way. */
  async settle(): Promise<void> {
    await this.#shipping.idle();
  }

  /** Ships all there is, however often it takes; nothing more is written by then. */
  async finish(): Promise<void> {
    await this.settle();
    while (await persist(() => this.#shipChunk(), this.#member.abandoned));
  }

  async #shipOrWait(): Promise<void> {
    try {
      await this.#shipChunk();
    } catch (error) {
      // What was not shipped is in the file still: the next chunk, or the last one, begins there.
      this.#member.tools.log.warn(
        { err: error, member: this.#member.ref.member },
        "a log chunk waits",
      );
    }
  }

  /** False when there was nothing. */
  async #shipChunk(): Promise<boolean> {
    using file = await this.#open();
    const { journal, tools, ref, abandoned } = this.#member;
    const { logOffset, logSeq } = journal.state;
    const sizeBytes = Math.min(MAX_CHUNK_BYTES, (file?.sizeBytes ?? 0) - logOffset);
    if (file === null || sizeBytes <= 0) return false;
    const key = `${ref.member}-${formatFence(ref.fence)}/${String(logSeq).padStart(8, "0")}`;
    await tools.uploader.upload(
      ref,
      { fd: file.fd, start: logOffset, sizeBytes, key, area: "log" },
      abandoned,
    );
    journal.note({ logOffset: logOffset + sizeBytes, logSeq: logSeq + 1 });
    return true;
  }

  #tail(file: JobFile, nowMs: number): void {
    const { tools, journal, ref } = this.#member;
    const { job } = journal.state.desired;
    const waiting = file.sizeBytes - this.#tailed;
    if (waiting <= 0) return;
    const granted = tools.tailLimit.take(job, waiting, nowMs);
    const dropped = waiting - granted;
    const send = (piece: Pick<TailMessage, "offset" | "bytes" | "text">): void =>
      tools.coordinator.tail({ job, member: ref.member, ...piece });
    if (dropped > 0) send({ offset: this.#tailed, bytes: dropped, text: null });
    this.#tailed += dropped;
    const bytes = Buffer.alloc(granted);
    const from = this.#tailed;
    for (const piece of tailPieces(bytes.subarray(0, readSync(file.fd, bytes, 0, granted, from)))) {
      send({ ...piece, offset: from + piece.offset });
      this.#tailed += piece.bytes;
    }
  }

  #open(): Promise<JobFile | null> {
    return this.#member.enclosure.area.open(JOB_PATHS.output);
  }
}
