import { accessSync, constants, existsSync, readFileSync, statfsSync } from "node:fs";
import { arch, release, totalmem } from "node:os";
import type { CgroupVersion } from "@resontech/contracts/kernel-features";
import type { NodeFacts } from "../decisions/minimum-hardware.ts";
import { delimiter, join } from "node:path";

/** Programs that the agent calls, by the package that Debian has them in: mount, e2fsprogs, nftables, coreutils. */
const PROGRAMS = ["mount", "umount", "mkfs.ext4", "nft", "chown"];
export function readNodeFacts(dataDir: string): NodeFacts {
  const { bavail, bsize } = statfsSync(dataDir);
  return {
    memoryBytes: totalmem(),
    diskFreeBytes: bavail * bsize,
    kernel: release(),
    cgroup: cgroupVersion(),
    architecture: arch(),
    isRoot: process.getuid?.() === 0,
    programs: Object.fromEntries(
      PROGRAMS.map((program) => [
        program,
        (process.env["PATH"] ?? "")
          .split(delimiter)
          .some((folder) => isExecutable(join(folder, program))),
      ]),
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

const UNIFIED_CONTROLLERS = "/sys/fs/cgroup/cgroup.controllers";

function cgroupVersion(): CgroupVersion {
  if (existsSync(UNIFIED_CONTROLLERS)) return 2;
  return existsSync("/sys/fs/cgroup/memory") ? 1 : null;
}

/** Version 1 lists controllers and whether they are enabled; version 2 lists them in its root. */
function hasMemoryController(): boolean {
  if (
    existsSync(UNIFIED_CONTROLLERS) &&
    readFileSync(UNIFIED_CONTROLLERS, "utf8").split(/\s+/).includes("memory")
  )
    return true;
  return /^memory\t\d+\t\d+\t1$/m.test(
    existsSync("/proc/cgroups") ? readFileSync("/proc/cgroups", "utf8") : "",
  );
}
