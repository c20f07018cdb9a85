/** A member's output on its way: in chunks of at most 1 MiB or 5 s to the object store, and live to those who watch. */
import { closeSync, openSync, readSync, rmSync, writeFileSync } from "node:fs";
import type { TailMessage } from "@resontech/contracts/agent-protocol";
import { formatFence } from "@resontech/contracts/fence";
import { SharedRun } from "@resontech/frame/shared-run";
import { persist } from "../bus/persist.ts";
import { gapLine, isFullChunk, nextLogStep } from "../decisions/log-bound.ts";
import { tailPieces } from "../decisions/tail-pieces.ts";
import type { JobFile } from "../substrate/area.ts";
import { JOB_PATHS } from "../substrate/job-paths.ts";
import type { MemberContext } from "./member-context.ts";

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
    const step = nextLogStep(this.#member.journal.state.logOffset, file.sizeBytes, false);
    const isDue = step !== null && (isFullChunk(step) || nowMs - this.#beganAtMs >= EVERY_MS);
    if (!isDue || this.#shipping.isUnderWay) return;
    this.#beganAtMs = nowMs;
    void this.#shipping.run(() => this.#shipOrWait());
  }

  /** Waits for the chunk that is on its way. */
  async settle(): Promise<void> {
    await this.#shipping.idle();
  }

  /** Ships what stays of all there is, however often it takes; nothing more is written by then. */
  async finish(): Promise<void> {
    await this.settle();
    while (await persist(() => this.#shipNext(true), this.#member.abandoned));
  }

  async #shipOrWait(): Promise<void> {
    try {
      await this.#shipNext(false);
    } catch (error) {
      // What was not shipped is in the file still: the next chunk, or the last one, begins there.
      this.#member.tools.log.warn(
        { err: error, member: this.#member.ref.member },
        "a log chunk waits",
      );
    }
  }

  /** False when there was nothing. @param isOver nothing more is written */
  async #shipNext(isOver: boolean): Promise<boolean> {
    using file = await this.#open();
    const { journal, tools, ref, abandoned } = this.#member;
    const { logOffset, logSeq } = journal.state;
    const step = file === null ? null : nextLogStep(logOffset, file.sizeBytes, isOver);
    if (file === null || step === null) return false;
    const key = `${ref.member}-${formatFence(ref.fence)}/${String(logSeq).padStart(8, "0")}`;
    const upload = (part: { fd: number; start: number; sizeBytes: number }) =>
      tools.uploader.upload(ref, { ...part, key, area: "log" }, abandoned);
    if (step.kind === "chunk")
      await upload({ fd: file.fd, start: logOffset, sizeBytes: step.bytes });
    else await this.#withLine(gapLine(step.bytes), upload);
    journal.note({ logOffset: logOffset + step.bytes, logSeq: logSeq + 1 });
    return true;
  }

  /** Stores a line of our own. A member's disk that is full has no room for it, and the end of its log counts more. */
  async #withLine(
    line: string,
    upload: (part: { fd: number; start: number; sizeBytes: number }) => Promise<unknown>,
  ): Promise<void> {
    const { enclosure, ref, tools } = this.#member;
    const path = enclosure.area.scratch("log-gap");
    try {
      try {
        writeFileSync(path, line, { mode: 0o600 });
      } catch (error) {
        tools.log.warn({ err: error, member: ref.member }, "nothing marks the gap in a log");
        return;
      }
      const fd = openSync(path, "r");
      try {
        await upload({ fd, start: 0, sizeBytes: Buffer.byteLength(line) });
      } finally {
        closeSync(fd);
      }
    } finally {
      rmSync(path, { force: true });
    }
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
