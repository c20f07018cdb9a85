/** A real witness as its own process, on this Node or the host's. */
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Test } from "tap";
import { shippedProgram } from "@resontech/house/shipped-program";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import type { TestLog } from "./test-log.ts";

export type Runtime = { name: string; node: string; program: string };

/** The one compiled file on this Node, and on the host's, which may be an older one. */
export function runtimes(): Runtime[] {
  const path = (process.env["PATH"] ?? "")
    .split(":")
    .filter((folder) => !folder.includes("node_modules"))
    .join(":");
  const found = spawnSync("node", ["--version"], { encoding: "utf8", env: { PATH: path } });
  if (found.status !== 0) return [onThisNode()];
  const node = execFileSync("node", ["-p", "process.execPath"], {
    encoding: "utf8",
    env: { PATH: path },
  }).trim();
  return [onThisNode(), { name: found.stdout.trim(), node, program: shippedProgram("witness") }];
}

function onThisNode(): Runtime {
  return { name: process.version, node: process.execPath, program: shippedProgram("witness") };
}

export type Posted = { status: number; type: string | null; body: string };

export class WitnessFixture {
  readonly dir: string;
  readonly #runtime: Runtime;
  /** Module text that the process imports first. */
  preload: string | null = null;
  url = "";
  #child: ChildProcess | null = null;

  constructor(t: Test, runtime: Runtime = onThisNode()) {
    this.dir = join(temporaryFolder(t), "w");
    this.#runtime = runtime;
    t.teardown(() => this.stop("SIGKILL"));
  }

  run(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    const { node, program } = this.#runtime;
    return spawnSync(node, [program, args[0]!, "--dir", this.dir, ...args.slice(1)], {
      encoding: "utf8",
    });
  }

  /** Makes it, and lets it know the logs. @returns the lines for a policy */
  init(...logs: TestLog[]): string {
    const { status, stdout, stderr } = this.run("init", "--name", "witness.example/w1");
    if (status !== 0) throw new Error(stderr);
    for (const log of logs) {
      const { status, stderr } = this.run("admit", "--first", log.policyFile);
      if (status !== 0) throw new Error(stderr);
    }
    return stdout;
  }

  async serve(...options: string[]): Promise<void> {
    const { node, program } = this.#runtime;
    const first =
      this.preload === null
        ? []
        : ["--import", `data:text/javascript,${encodeURIComponent(this.preload)}`];
    const child = spawn(
      node,
      [...first, program, "serve", "--dir", this.dir, "--listen", "127.0.0.1:0", ...options],
      {
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    let output = "";
    const port = await new Promise<number>((resolve, reject) => {
      const take = (chunk: Buffer): void => {
        output += chunk.toString("utf8");
        const [, found] = /"port":(\d+)/.exec(output) ?? [];
        if (found !== undefined) resolve(Number(found));
      };
      child.stdout.on("data", take);
      child.stderr.on("data", take);
      child.once("close", (code) => reject(new Error(`the witness ended with ${code}: ${output}`)));
    });
    this.url = `${options.includes("--tls-cert") ? "https" : "http"}://127.0.0.1:${port}`;
  }

  async post(body: string | Buffer): Promise<Posted> {
    const response = await fetch(`${this.url}/add-checkpoint`, { method: "POST", body });
    return {
      status: response.status,
      type: response.headers.get("content-type"),
      body: await response.text(),
    };
  }

  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  }

  async ended(): Promise<void> {
    const child = this.#child!;
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  /** What it last cosigned of its logs. */
  logs(): {
    origin: string;
    size: number;
    root: string | null;
    cosignedAt: string | null;
    followedBy?: string;
  }[] {
    return JSON.parse(this.run("show").stdout).logs;
  }
}
