/** This host, booted a second time: systemd as PID 1 of namespaces of its own, over a copy-on-write view of the root file system. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { runChild } from "@resontech/house/run-child";

const BOOT_LIMIT_MS = 60_000;

export class BootedHost implements AsyncDisposable {
  /** Both the host and the booted one see it at this path; what is in it outlives a boot. */
  readonly data: string;
  readonly #base: string;
  readonly #name: string;
  readonly #bundle: string;
  #process: ChildProcess | null = null;

  constructor(base: string, bundle: string) {
    this.#base = base;
    this.#name = `rt-booted-${process.pid}`;
    this.#bundle = bundle;
    this.data = join(base, "data");
    chmodSync(base, 0o755);
    for (const folder of ["upper", "work", "merged", "data"])
      mkdirSync(join(base, folder), { recursive: true, mode: 0o755 });
    const layers = `lowerdir=/,upperdir=${join(base, "upper")},workdir=${join(base, "work")}`;
    execFileSync("mount", ["-t", "overlay", "overlay", "-o", layers, join(base, "merged")]);
  }

  async boot(): Promise<void> {
    this.#process = spawn(
      "sh",
      [join(import.meta.dirname, "boot.sh"), this.#base, this.#name, this.#bundle],
      {
        stdio: "ignore",
      },
    );
    for (const from = Date.now(); Date.now() - from < BOOT_LIMIT_MS; await sleep(500)) {
      const state = await this.run("systemctl", ["is-system-running"]).catch(() => "");
      if (/^(running|degraded)$/.test(state.trim())) return;
    }
    throw new Error(`systemd has not come up within ${BOOT_LIMIT_MS / 1000} s`);
  }

  /** Nothing in it gets a chance to end cleanly. */
  async cutPower(): Promise<void> {
    const running = this.#process;
    if (running === null) return;
    this.#process = null;
    const ended = once(running, "exit");
    running.kill("SIGKILL");
    await ended;
    for (const from = Date.now(); this.#processes().length > 0 && Date.now() - from < 10_000; )
      await sleep(100);
  }

  /** @returns standard output of a command inside @throws CommandFailedError */
  async run(command: string, args: readonly string[]): Promise<string> {
    const enter = [
      "--target",
      String(this.#init()),
      "--mount",
      "--pid",
      "--uts",
      "--ipc",
      "--cgroup",
      "--root",
      "--wd",
    ];
    return await runChild("nsenter", [...enter, command, ...args], { quiet: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.cutPower();
    for (const group of this.#groups()) removeGroup(group);
    execFileSync("umount", [join(this.#base, "merged")]);
    rmSync(this.#base, { recursive: true, force: true });
  }

  /** The process that unshare has started and that became systemd. */
  #init(): number {
    const pid = this.#process?.pid ?? 0;
    return Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ")[0]);
  }

  #groups(): string[] {
    return readFileSync("/proc/self/mounts", "utf8")
      .split("\n")
      .map((line) => line.split(" "))
      .filter(([, , type]) => type === "cgroup" || type === "cgroup2")
      .map(([, folder = ""]) => join(folder, this.#name))
      .filter((folder) => existsSync(folder));
  }

  #processes(): string[] {
    return this.#groups().flatMap((group) =>
      readFileSync(join(group, "cgroup.procs"), "utf8").split("\n").filter(Boolean),
    );
  }
}

function removeGroup(group: string): void {
  for (const entry of readdirSync(group, { withFileTypes: true }))
    if (entry.isDirectory()) removeGroup(join(group, entry.name));
  rmdirSync(group);
}
