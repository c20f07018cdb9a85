/** A part on its own, as it ships: its declaration, a configuration, and folders that go with it. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { ask } from "@resontech/frame/ask";
import type { OwnPart } from "@resontech/frame/define-part";
import type { Operation } from "@resontech/frame/operation";
import type { ProcessConfig } from "@resontech/frame/process-config";
import type { Static, TSchema } from "typebox";
import { shippedProgram } from "./shipped-program.ts";

const START_MS = 120_000;
const ANSWER_MS = 120_000;

export class RunningPart<Config extends TSchema = TSchema> implements AsyncDisposable {
  readonly #part: OwnPart<Config>;
  readonly #folder: string;
  readonly #config: ProcessConfig<Config>;
  #child: ChildProcess | null = null;
  #output = "";

  private constructor(part: OwnPart<Config>, own: Static<Config>) {
    this.#part = part;
    // Short: a socket's path has at most 107 bytes.
    this.#folder = mkdtempSync(join(tmpdir(), "rtp-"));
    this.#config = {
      ...{ logLevel: "info", dataDir: join(this.#folder, "data"), own },
      sockets: Object.fromEntries(
        Object.keys(part.sockets).map((name) => [name, join(this.#folder, name, "sock")]),
      ),
    };
    for (const name of ["data", ...Object.keys(part.sockets)])
      mkdirSync(join(this.#folder, name), { mode: 0o700 });
    writeFileSync(this.#configFile, JSON.stringify(this.#config));
  }

  /** Once it serves. */
  static async start<Config extends TSchema>(
    part: OwnPart<Config>,
    own: Static<Config>,
  ): Promise<RunningPart<Config>> {
    const running = new RunningPart(part, own);
    await running.start();
    return running;
  }

  get output(): string {
    return this.#output;
  }

  socket(name: string): string {
    const path = this.#config.sockets[name];
    if (path === undefined) throw new Error(`${this.#part.name} has no socket named ${name}`);
    return path;
  }

  /** @throws OperationError */
  async ask<Request extends TSchema, Reply extends TSchema>(
    socket: string,
    operation: Operation<Request, Reply>,
    request: Static<Request>,
  ): Promise<Static<Reply>> {
    return await ask(this.socket(socket), operation, request, { timeoutMs: ANSWER_MS });
  }

  async start(): Promise<void> {
    const program = shippedProgram(basename(this.#part.program, ".mjs"));
    const child = spawn(process.execPath, [program, "--config", this.#configFile], {
      stdio: ["ignore", "pipe", "pipe"],
      cwd: "/",
    });
    this.#child = child;
    this.#output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => (this.#output += chunk.toString("utf8")));
    for (const end = Date.now() + START_MS; !this.#output.includes('"listening"'); await sleep(10))
      if (child.exitCode !== null || Date.now() > end)
        throw new Error(`${this.#part.name} does not serve: ${this.#output}`);
  }

  /** @returns exit code and signal */
  async stop(signal: NodeJS.Signals = "SIGTERM"): Promise<[number | null, string | null]> {
    const child = this.#child;
    if (child === null) return [null, null];
    this.#child = null;
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill(signal);
      await ended;
    }
    return [child.exitCode, child.signalCode];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop("SIGKILL");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  get #configFile(): string {
    return join(this.#folder, "part.json");
  }
}
