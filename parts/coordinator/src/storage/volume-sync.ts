/**
 * Makes what the S3 engine has written durable: its POSIX back end never calls fsync, so `sync -f` on its volume is
 * awaited before an upload, a checkpoint or a task's inputs count as stored.
 *
 * Grouped: one `sync` runs at a time, and all who arrive while it runs share the next one. A caller's bytes were written
 * before it called, so a sync that starts afterwards covers them; the one already running does not.
 */
import { SyncProcess } from "./sync-process.ts";

export class VolumeSync implements AsyncDisposable {
  readonly #process: SyncProcess;
  readonly #sync: () => Promise<unknown>;
  #running: Promise<unknown> | null = null;
  #next: Promise<void> | null = null;

  /** @param sync replaces `sync -f volumePath` in tests of the grouping. */
  constructor(volumePath: string, sync?: () => Promise<unknown>) {
    this.#process = new SyncProcess(volumePath);
    this.#sync = sync ?? (() => this.#process.sync());
  }

  /** Resolves when everything written before the call is on the disk; rejects when the disk refused. */
  durable(): Promise<void> {
    this.#next ??= this.#after(this.#running);
    return this.#next;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process[Symbol.asyncDispose]();
  }

  async #after(previous: Promise<unknown> | null): Promise<void> {
    await previous?.catch(() => null);
    this.#next = null;
    this.#running = this.#sync();
    await this.#running;
  }
}
