import type { MemberContext } from "./member-context.ts";
import { LOG_OUTPUTS, openInContainer } from "./server-outputs.ts";

/** A rewritten log stays one small upload. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Rewrites the server's log and metrics at round ends: one upload at a time, and one more when rounds ended meanwhile. */
export class RoundUploads {
  readonly #member: MemberContext;
  #running: Promise<void> | null = null;
  #isWanted = false;

  constructor(member: MemberContext) {
    this.#member = member;
  }

  /** A round has ended. */
  request(): void {
    if (this.#member.journal.state.desired.role.kind !== "server") return;
    this.#isWanted = true;
    this.#running ??= this.#uploadAll().finally(() => {
      this.#running = null;
    });
  }

  async settle(): Promise<void> {
    await this.#running;
  }

  async #uploadAll(): Promise<void> {
    const { tools, ref, disk, abandoned } = this.#member;
    while (this.#isWanted && !abandoned.aborted) {
      this.#isWanted = false;
      for (const { path, key } of LOG_OUTPUTS) {
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
}
