import type { MemberContext } from "./member-context.ts";
import { LOG_OUTPUTS, openInContainer } from "./server-outputs.ts";

/** A rewritten log stays one small upload. */
const MAX_BYTES = 16 * 1024 * 1024;
/** As often as log chunks: an upload at each end of rounds that last a second would take from the job what it trains with. */
const EVERY_MS = 5_000;

/** Rewrites the server's log and metrics after round ends, one upload at a time; what came after the last is stored when the member is drained. */
export class RoundUploads {
  readonly #member: MemberContext;
  #running: Promise<void> | null = null;
  #isWanted = false;
  #beganAtMs = Number.NEGATIVE_INFINITY;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** A round has ended. */
  request(): void {
    this.#isWanted = this.#member.journal.state.desired.role.kind === "server";
  }

  /** Starts what is wanted and due. @param nowMs of a clock that is never set */
  tick(nowMs: number): void {
    if (!this.#isWanted || this.#running !== null || nowMs - this.#beganAtMs < EVERY_MS) return;
    this.#isWanted = false;
    this.#beganAtMs = nowMs;
    this.#running = this.#upload().finally(() => {
      this.#running = null;
    });
  }

  /** Waits for the upload that is on its way. */
  async settle(): Promise<void> {
    await this.#running;
  }

  async #upload(): Promise<void> {
    const { tools, ref, disk, abandoned } = this.#member;
    for (const { path, key } of LOG_OUTPUTS) {
      if (abandoned.aborted) return;
      using file = openInContainer(disk, path);
      if (file === null || file.sizeBytes > MAX_BYTES) continue;
      try {
        await tools.uploader.upload(ref, { fd: file.fd, sizeBytes: file.sizeBytes, key }, abandoned);
      } catch (error) {
        tools.log.warn({ err: error, member: ref.member, key }, "not stored at this round's end; a later one brings it");
      }
    }
  }
}
