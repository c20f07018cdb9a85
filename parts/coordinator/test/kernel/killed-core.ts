import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import {
  COORDINATOR_NODE_FLAGS,
  type CoordinatorConfig,
} from "@resontech/contracts/coordinator-config";
import type { S3Credentials } from "../../src/storage/s3-transport.ts";

export type CoreProcessOptions = { config: CoordinatorConfig; admin: S3Credentials };
type Message =
  | { kind: "ready" }
  | { kind: "job"; state: string | null }
  | { kind: "error"; message: string };

/** Starts the core as a process, kills it without a word, starts it again. */
export class KilledCore {
  readonly #options: CoreProcessOptions;
  #child: ChildProcess | null = null;
  readonly errors: string[] = [];

  constructor(options: CoreProcessOptions) {
    this.#options = options;
  }

  async start(): Promise<void> {
    const child = fork(
      new URL("./core-process.ts", import.meta.url),
      [JSON.stringify(this.#options)],
      { execArgv: [...COORDINATOR_NODE_FLAGS] },
    );
    child.on("message", (message: Message) => {
      if (message.kind === "error") this.errors.push(message.message);
    });
    this.#child = child;
    await this.#next("ready");
  }

  async kill(): Promise<void> {
    const child = this.#child;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGKILL");
    await exited;
  }

  async state(jobId: string): Promise<string | null> {
    this.#child!.send({ kind: "job", id: jobId });
    const message = await this.#next("job");
    return message.kind === "job" ? message.state : null;
  }

  #next(kind: Message["kind"]): Promise<Message> {
    const { promise, resolve, reject } = Promise.withResolvers<Message>();
    const child = this.#child!;
    const settle = (message: Message) => {
      if (message.kind !== kind) return;
      child.off("message", settle);
      child.off("exit", ended);
      resolve(message);
    };
    const ended = (code: number | null) => reject(new Error(`the core ended with ${code}`));
    child.on("message", settle);
    child.once("exit", ended);
    return promise;
  }
}
