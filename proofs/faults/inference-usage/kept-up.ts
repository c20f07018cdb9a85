/** A program that is started again whenever it ends, and killed when somebody says so. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

const AGAIN_MS = 100;

export class KeptUp implements AsyncDisposable {
  readonly #args: readonly string[];
  #child: ChildProcess | null = null;
  #isOver = false;
  #running: Promise<void>;
  kills = 0;

  /** @param args of node */
  constructor(args: readonly string[]) {
    this.#args = args;
    this.#running = this.#run();
  }

  /** kill -9, without a word. */
  kill(): void {
    if (this.#child?.kill("SIGKILL") === true) this.kills += 1;
  }

  /** Ends in order, and is not started again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isOver = true;
    this.#child?.kill("SIGTERM");
    await this.#running;
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      this.#child = spawn(process.execPath, this.#args, { stdio: "ignore" });
      await once(this.#child, "exit");
      await sleep(AGAIN_MS);
    }
  }
}
