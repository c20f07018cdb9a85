/**
 * A node with devices that are none: a mount namespace of its own, in which the agent and the container engine find a stand-in for the
 * vendor's tool, a CDI specification, and kernel messages that the test writes. Nothing of it is seen outside.
 */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodePlace } from "@resontech/house/podman-service";

const FIXTURES = join(import.meta.dirname, "../probes/fixtures");
const CDI_FOLDER = "/run/cdi";

export const pretendedGpu = (digit: string): string =>
  `GPU-${digit.repeat(8)}-0000-4000-8000-${"0".repeat(12)}`;

export class PretendedDevices implements NodePlace, Disposable {
  readonly #dir: string;
  readonly #holder: ChildProcess;

  private constructor(dir: string, holder: ChildProcess) {
    this.#dir = dir;
    this.#holder = holder;
  }

  /** A node on which the tool lists these devices, each a T4 of the recorded answer. CDI knows none yet. */
  static make(devices: readonly string[]): PretendedDevices {
    const dir = mkdtempSync(join(tmpdir(), "rtp-"));
    for (const name of ["sbin", "cdi"]) mkdirSync(join(dir, name));
    writeFileSync(join(dir, "kmsg"), "");
    const tool = [
      "#!/bin/sh",
      `case "$1" in`,
      `-q) exec cat ${dir}/answer.xml;;`,
      `--query-gpu=uuid,compute_cap) exec cat ${dir}/capabilities.csv;;`,
      "*) exit 2;;",
      "esac",
    ];
    writeFileSync(join(dir, "sbin", "nvidia-smi"), `${tool.join("\n")}\n`, { mode: 0o755 });
    mkdirSync(CDI_FOLDER, { recursive: true });
    const holder = spawn("unshare", ["--mount", "--propagation", "private", "sleep", "infinity"], {
      stdio: "ignore",
    });
    const made = new PretendedDevices(dir, holder);
    made.#untilOwnMounts();
    for (const [name, over] of [
      ["sbin", "/usr/local/sbin"],
      ["cdi", CDI_FOLDER],
      ["kmsg", "/dev/kmsg"],
    ] as const)
      execFileSync(...made.enter("mount", ["--bind", join(dir, name), over]));
    made.say(devices);
    return made;
  }

  enter(program: string, args: readonly string[]): [program: string, args: string[]] {
    return ["nsenter", [`--mount=/proc/${this.#holder.pid}/ns/mnt`, program, ...args]];
  }

  /** What the tool lists from now on. */
  say(devices: readonly string[]): void {
    const recorded = readFileSync(join(FIXTURES, "tesla-t4.xml"), "utf8");
    const gpu = /<gpu id=[\s\S]*<\/gpu>/.exec(recorded)?.[0] ?? "";
    const idle = gpu.replace(/<process_info>[\s\S]*<\/process_info>/, "");
    const gpus = devices.map((device, index) =>
      idle
        .replace(/<uuid>.*<\/uuid>/, `<uuid>${device}</uuid>`)
        .replace(
          /<pci_bus_id>.*<\/pci_bus_id>/,
          `<pci_bus_id>00000000:${pciBus(index)}:00.0</pci_bus_id>`,
        ),
    );
    const xml = `<nvidia_smi_log><driver_version>580.95.05</driver_version><attached_gpus>${gpus.length}</attached_gpus>${gpus.join("")}</nvidia_smi_log>`;
    writeFileSync(join(this.#dir, "answer.xml"), xml);
    writeFileSync(
      join(this.#dir, "capabilities.csv"),
      devices.map((device) => `${device}, 7.5\n`).join(""),
    );
  }

  /** A CDI specification that names them: in a container each is a file that is /dev/null. */
  nameInCdi(devices: readonly string[]): void {
    const nodes = (index: number) => [
      {
        ...{ path: `/dev/pretended${index}`, hostPath: "/dev/null" },
        ...{ type: "c", major: 1, minor: 3, permissions: "rw" },
      },
    ];
    const spec = {
      cdiVersion: "0.5.0",
      kind: "nvidia.com/gpu",
      devices: devices.map((name, index) => ({
        name,
        containerEdits: { deviceNodes: nodes(index), env: [`PRETENDED_DEVICE=${name}`] },
      })),
    };
    writeFileSync(join(this.#dir, "cdi", "pretended.json"), JSON.stringify(spec));
  }

  /** One record of the kernel's log. */
  kernelSays(record: string): void {
    appendFileSync(join(this.#dir, "kmsg"), `${record}\n`);
  }

  [Symbol.dispose](): void {
    this.#holder.kill("SIGKILL");
    rmSync(this.#dir, { recursive: true, force: true });
    try {
      rmdirSync(CDI_FOLDER);
    } catch {
      // Somebody else's specifications lie there, or another test's.
    }
  }

  #untilOwnMounts(): void {
    const deadline = performance.now() + 120_000;
    while (mountsOf(String(this.#holder.pid)) === mountsOf("self"))
      if (performance.now() > deadline) throw new Error("there is no namespace of its own");
  }
}

/** The kernel's name for a process's mount namespace. */
function mountsOf(pid: string): string {
  try {
    return readlinkSync(`/proc/${pid}/ns/mnt`);
  } catch {
    return readlinkSync("/proc/self/ns/mnt");
  }
}

function pciBus(index: number): string {
  return (0x3b + index).toString(16).toUpperCase();
}
