/**
 * Another host of an installed appliance, as far as the network goes: a namespace in which the command that `appliance node add` prints is run, by
 * a shell, as an operator would run it.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { hostState } from "./host-state.ts";
import type { LocalAppliance } from "./local-appliance.ts";
import type { NetworkNamespace } from "../network/network-namespace.ts";

export type JoinedNodeOptions = {
  appliance: LocalAppliance;
  namespace: NetworkNamespace;
  node: string;
  cpuWorkers: number;
  /** A folder that may be made; the hosts of a machine share its file system. */
  root: string;
  instance: string;
  progress: (line: string) => void;
};

/** What `appliance node add --json` says. */
type Added = { command: string; token: string };
/** The last line of the command. */
export type JoinReport = {
  isNew: boolean;
  fetched: number;
  workers: { worker: string; isGood: boolean; image: string | null; why: string }[];
};

export class JoinedNode implements AsyncDisposable {
  readonly node: string;
  readonly #options: JoinedNodeOptions;

  constructor(options: JoinedNodeOptions) {
    this.node = options.node;
    this.#options = options;
  }

  /** @param medium an empty folder to carry instead of the command */
  async add(medium?: string): Promise<Added> {
    const { appliance, node } = this.#options;
    const out = medium === undefined ? [] : ["--out", medium];
    return JSON.parse(await appliance.command(["node", "add", node, ...out, "--json"])) as Added;
  }

  /** Runs the command to its end. @throws Error with the end of what it said */
  async join({ command, token }: Added, cwd = "/"): Promise<JoinReport> {
    const { status, answer, said } = await this.#run(command, token, cwd, null);
    if (status !== 0) throw new Error(`the command ended with ${status ?? "a signal"}:\n${said}`);
    return JSON.parse(answer.trimEnd().split("\n").at(-1) ?? "") as JoinReport;
  }

  /** Kills the command, and all that it started but what is to outlive it, after so long. @returns whether it had ended before */
  async joinKilled({ command, token }: Added, afterMs: number): Promise<boolean> {
    return (await this.#run(command, token, "/", afterMs)).status !== null;
  }

  async #run(command: string, token: string, cwd: string, killAfterMs: number | null) {
    const { namespace, root, instance, cpuWorkers, progress } = this.#options;
    const options = ["--root", root, "--instance", instance, "--cpu-workers", String(cpuWorkers)];
    const line = `${command} ${[...options, "--token-file", "-", "--json"].join(" ")}`;
    // A group of its own, so that all of it can be killed.
    const child = spawn(...namespace.enter("sh", ["-c", line]), {
      cwd,
      detached: true,
      stdio: ["pipe", "pipe", "pipe"],
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(`${token}\n`);
    let answer = "";
    let said = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      answer += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      said = (said + text).slice(-4000);
      for (const each of text.split("\n"))
        if (/^\S.*(release|joined|trying|waiting)/.test(each)) progress(`  ${this.node}: ${each}`);
    });
    const ended = once(child, "close");
    const { pid } = child;
    const timer =
      killAfterMs === null || pid === undefined
        ? null
        : setTimeout(() => process.kill(-pid, "SIGKILL"), killAfterMs);
    const [status] = (await ended) as [number | null];
    if (timer !== null) clearTimeout(timer);
    return { status, answer, said };
  }

  /** Takes the host away as an operator would. @returns what of the node is left on it, one line each */
  async leave(): Promise<string[]> {
    const { namespace, root } = this.#options;
    const child = spawn(...namespace.enter(`${root}/leave`, ["--yes"]), { stdio: "ignore" });
    const [status] = (await once(child, "exit")) as [number | null];
    // Mounts and devices go with their last user, a moment later.
    for (let waited = 0; waited < 50 && this.left().length > 0; waited++) await sleep(100);
    return [...(status === 0 ? [] : [`leave ended with ${status ?? "a signal"}`]), ...this.left()];
  }

  left(): string[] {
    const { namespace, root, instance } = this.#options;
    const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
    return [
      ...hostState(instance, root),
      ...readdirSync("/tmp").filter((name) => name.startsWith("resontech-join.")),
      ...(existsSync(root) ? [`folder ${root}`] : []),
      ...lines(namespace.run("nft", "list", "tables")).filter((line) =>
        line.includes("resontech-"),
      ),
      ...lines(namespace.run("ip", "-o", "link")).filter((line) => !/: (lo|eth0)[:@]/.test(line)),
      ...lines(namespace.run("ss", "-Hltn")),
    ];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (existsSync(`${this.#options.root}/leave`)) await this.leave();
  }
}

/** An empty folder for a medium. */
export function emptyFolder(folder: string): string {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  return folder;
}
