import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { shippedProgram } from "@resontech/house/shipped-program";

const WITHIN_MS = 120_000;

/** `resontech` as a process, and what it says. */
export class Shell {
  out = "";
  said = "";
  readonly ended: Promise<number | null>;
  readonly #child: ChildProcess;
  readonly #waiting = new Set<() => void>();

  constructor(env: Readonly<Record<string, string>>, ...words: string[]) {
    const child = spawn(process.execPath, [shippedProgram("resontech"), ...words], {
      env: { PATH: "/usr/bin:/bin", ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#child = child;
    const take = (name: "out" | "said") => (chunk: Buffer) => {
      this[name] += chunk.toString("utf8");
      for (const wake of [...this.#waiting]) wake();
    };
    child.stdout.on("data", take("out"));
    child.stderr.on("data", take("said"));
    this.ended = once(child, "close").then(([code]) => code as number | null);
  }

  static async run(env: Readonly<Record<string, string>>, ...words: string[]) {
    const shell = new Shell(env, ...words);
    const code = await shell.ended;
    return { code, out: shell.out, said: shell.said };
  }

  async until(pattern: RegExp): Promise<void> {
    while (!pattern.test(this.out))
      await Promise.race([
        new Promise<void>((resolve) => this.#waiting.add(resolve)),
        this.ended.then(() => Promise.reject(new Error(`ended: ${this.out}${this.said}`))),
        sleep(WITHIN_MS, undefined, { ref: false }).then(() =>
          Promise.reject(new Error(`not so: ${this.out}${this.said}`)),
        ),
      ]);
  }

  /** Stops it, sees what it has written in all, and kills it. @returns bytes, to sockets and files */
  killStopped(): number {
    this.#child.kill("SIGSTOP");
    const io = readFileSync(`/proc/${this.#child.pid}/io`, "utf8");
    this.#child.kill("SIGKILL");
    return Number(/^wchar: (\d+)$/m.exec(io)?.[1] ?? 0);
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}
