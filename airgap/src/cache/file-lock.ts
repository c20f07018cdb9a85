import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { progress } from "./progress.ts";

/** After this time the person who waits is told why. */
const PATIENCE_MS = 5_000;

/**
 * A lock of the kernel on a file, held by a child that ends with us, however we end: no stale lock to judge, no process id to trust.
 * Node has no flock(2) of its own.
 */
export class FileLock {
  readonly #holder: ChildProcess;

  private constructor(holder: ChildProcess) {
    this.#holder = holder;
  }

  /** Waits until nobody else holds the file, which is made when it is not there and stays. */
  static async take(file: string): Promise<FileLock> {
    const holder = spawn("flock", [file, "sh", "-c", "echo held; exec cat"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const notice = setTimeout(
      () => progress(`waiting for another build, which holds ${file}`),
      PATIENCE_MS,
    );
    try {
      await Promise.race([
        once(holder.stdout, "data"),
        once(holder, "close").then(([code]) => {
          throw new Error(`flock ${file} ended with ${String(code)}`);
        }),
      ]);
    } finally {
      clearTimeout(notice);
    }
    return new FileLock(holder);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#holder, "close");
    this.#holder.stdin?.end();
    await closed;
  }
}
