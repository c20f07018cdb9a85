/**
 * Which containers of members live on this host, of every engine on it, by the kernel's own table of processes: what a member says reaches nobody
 * once its fence is withdrawn, but that it runs can't be hidden. A container lives as long as its first process: the kernel ends all others with it.
 */
import { once } from "node:events";
import { Worker } from "node:worker_threads";

export type SeenContainers = {
  /** In seconds since boot: when its first process was begun, and last seen alive. */
  containers: { name: string; from: number; until: number }[];
  /** The longest time between two looks since it was asked last, without what the host of a virtual machine took. */
  longestGapS: number;
};

export class LivingContainers implements AsyncDisposable {
  readonly #thread = new Worker(new URL("./look-at-containers.ts", import.meta.url));

  /** All containers since this was made. */
  async seen(): Promise<SeenContainers> {
    const answer = once(this.#thread, "message");
    this.#thread.postMessage("seen");
    const [seen] = (await answer) as [SeenContainers];
    return seen;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#thread.terminate();
  }
}
