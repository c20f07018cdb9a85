/** A real witness of a proof's own. */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const WITNESS = fileURLToPath(import.meta.resolve("@resontech/witness/main"));

export class WitnessInstance {
  readonly #dir: string;
  #child: ChildProcess | null = null;
  url = "";

  constructor(dir: string) {
    this.#dir = dir;
  }

  /** @throws what the program says */
  run(verb: string, ...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [WITNESS, verb, "--dir", this.#dir, ...args],
      {
        encoding: "utf8",
      },
    );
    if (status !== 0) throw new Error(stderr.trim());
    return stdout;
  }

  /** The logs that it knows. */
  logs(): { origin: string; size: number; followedBy?: string }[] {
    return (
      JSON.parse(this.run("show")) as {
        logs: { origin: string; size: number; followedBy?: string }[];
      }
    ).logs;
  }

  /** Again at the same address. */
  async serve(): Promise<void> {
    const port = this.url === "" ? "0" : new URL(this.url).port;
    const child = spawn(
      process.execPath,
      [WITNESS, "serve", "--dir", this.#dir, "--listen", `127.0.0.1:${port}`],
      {
        stdio: ["ignore", "pipe", "inherit"],
      },
    );
    this.#child = child;
    for await (const line of createInterface({ input: child.stdout })) {
      const { listening } = JSON.parse(line) as { listening?: { port: number } };
      if (listening === undefined) continue;
      this.url = `http://127.0.0.1:${listening.port}/`;
      child.stdout.resume();
      return;
    }
    throw new Error(`the witness ended with ${child.exitCode}`);
  }

  async end(): Promise<void> {
    if (this.#child === null || this.#child.exitCode !== null) return;
    this.#child.kill("SIGTERM");
    await once(this.#child, "exit");
  }
}
