import { SharedRun } from "@resontech/frame/shared-run";
import type { MemberContext } from "./member-context.ts";

/** A rewritten log stays one small upload. */
const MAX_BYTES = 16 * 1024 * 1024;
/** As often as log chunks: an upload at each end of rounds that last a second would take from the job what it trains with. */
const EVERY_MS = 5_000;

/**
 * Rewrites the logs that only grow within five seconds of a round's end, with what came meanwhile, one upload at a time. What came after the last
 * is stored when the member is drained.
 */
export class RoundUploads {
  readonly #member: MemberContext;
  readonly #upload = new SharedRun();
  #dueAtMs: number | null = null;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** A round has ended. @param nowMs of a clock that is never set */
  request(nowMs: number): void {
    if (this.#logs.length > 0) this.#dueAtMs ??= nowMs + EVERY_MS;
  }

  get #logs() {
    return this.#member.journal.state.desired.payload.outputs.logs;
  }

  /** Starts what is due. @param nowMs of the same clock */
  tick(nowMs: number): void {
    if (this.#dueAtMs === null || this.#upload.isUnderWay || nowMs < this.#dueAtMs) return;
    this.#dueAtMs = null;
    void this.#upload.run(() => this.#rewrite());
  }

  /** Waits for the upload that is on its way. */
  async settle(): Promise<void> {
    await this.#upload.idle();
  }

  async #rewrite(): Promise<void> {
    const { tools, ref, enclosure, abandoned } = this.#member;
    for (const { file: path, key } of this.#logs) {
      if (abandoned.aborted) return;
      using file = await enclosure.area.open(path);
      if (file === null || file.sizeBytes > MAX_BYTES) continue;
      try {
        await tools.uploader.upload(
          ref,
          { fd: file.fd, sizeBytes: file.sizeBytes, key },
          abandoned,
        );
      } catch (error) {
        tools.log.warn(
          { err: error, member: ref.member, key },
          "not stored at this round's end; a later one brings it",
        );
      }
    }
  }
}
