import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs";
import { arch, release, totalmem } from "node:os";
import { join } from "node:path";
import type { NodeFacts } from "../decisions/minimum-hardware.ts";
import { SYSTEM_PATH } from "../system-path.ts";

/** Programs that the agent calls, by the package that Debian has them in: mount, e2fsprogs, nftables, coreutils. */
const PROGRAMS = ["mount", "umount", "mkfs.ext4", "nft", "chown"];
export function readNodeFacts(dataDir: string): NodeFacts {
  const { bavail, bsize } = statfsSync(dataDir);
  return {
    memoryBytes: totalmem(),
    diskFreeBytes: bavail * bsize,
    kernel: release(),
    architecture: arch(),
    isRoot: process.getuid?.() === 0,
    programs: Object.fromEntries(
      PROGRAMS.map((program) => [program, SYSTEM_PATH.some((folder) => isExecutable(join(folder, program)))]),
    ),
    hasLoopDevices: existsSync("/dev/loop-control"),
    hasMemoryLimits: hasMemoryController(),
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Version 1 lists controllers and whether they are enabled; version 2 lists them in its root. */
function hasMemoryController(): boolean {
  const unified = "/sys/fs/cgroup/cgroup.controllers";
  if (existsSync(unified) && readFileSync(unified, "utf8").split(/\s+/).includes("memory")) return true;
  return /^memory\t\d+\t\d+\t1$/m.test(existsSync("/proc/cgroups") ? readFileSync("/proc/cgroups", "utf8") : "");
}
