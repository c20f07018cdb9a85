/**
 * Somebody outside who does answer: a public address in a network namespace of its own, to which this host has a route, and a listener on it that
 * counts who came. That nobody inside reaches it says something only because others do.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { NetworkNamespace } from "@resontech/house/network-namespace";

/** TEST-NET-2 of RFC 5737. */
const ADDRESS = "198.51.100.7";
const LISTENER = `
const [host, ...ports] = process.argv.slice(1);
let waiting = ports.length;
for (const port of ports)
  require("node:net")
    .createServer((socket) => { console.log("came"); socket.on("error", () => {}).end(); })
    .listen(Number(port), host, () => { if (--waiting === 0) console.log("ready"); });
`;

export class Outside implements Disposable {
  readonly address = ADDRESS;
  readonly #namespace = NetworkNamespace.make();
  #listener: ChildProcess | null = null;
  #came = 0;

  private constructor() {}

  static async start(ports: readonly number[]): Promise<Outside> {
    const outside = new Outside();
    try {
      await outside.#listen(ports);
    } catch (error) {
      outside[Symbol.dispose]();
      throw error;
    }
    return outside;
  }

  async #listen(ports: readonly number[]): Promise<void> {
    this.#namespace.run("ip", "address", "add", `${ADDRESS}/32`, "dev", "lo");
    execFileSync("ip", ["route", "add", `${ADDRESS}/32`, "via", this.#namespace.address]);
    const program = this.#namespace.enter(process.execPath, [
      "--eval",
      LISTENER,
      "--",
      ADDRESS,
      ...ports.map(String),
    ]);
    const listener = spawn(...program, { stdio: ["ignore", "pipe", "inherit"] });
    this.#listener = listener;
    const lines = createInterface(listener.stdout);
    const ready = once(lines, "line");
    lines.on("line", (line) => {
      if (line !== "ready") this.#came += 1;
    });
    await ready;
  }

  /** Connections that it took so far. */
  get came(): number {
    return this.#came;
  }

  /** The route goes with the namespace's device. */
  [Symbol.dispose](): void {
    this.#listener?.kill("SIGKILL");
    this.#namespace[Symbol.dispose]();
  }
}
