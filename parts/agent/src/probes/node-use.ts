import { existsSync, readFileSync, statfsSync } from "node:fs";
import { join } from "node:path";
import type { NodeUse } from "@resontech/contracts/agent-protocol";
import { busyMsOf, memoryOf, processorsOf } from "../decisions/host-figures.ts";
import { networkBytesOf } from "../decisions/network-bytes.ts";

/** What the node uses, all its programs together; what can't be read is absent. */
export function readNodeUse(dataDir: string, procfs = "/proc", sysfs = "/sys"): NodeUse {
  const stat = textOf(join(procfs, "stat"));
  const memory = memoryOf(textOf(join(procfs, "meminfo")));
  const { blocks, bfree, bsize } = statfsSync(dataDir);
  // A bridge and a container's end have no device of their own: what goes through them would count twice.
  const isReal = (name: string): boolean => existsSync(join(sysfs, "class/net", name, "device"));
  const network = networkBytesOf(textOf(join(procfs, "net/dev")), isReal);
  const [processors, cpuMs] = [processorsOf(stat), busyMsOf(stat)];
  return {
    ...(processors === null ? {} : { processors }),
    ...(cpuMs === null ? {} : { cpuMs }),
    ...(memory === null ? {} : { memoryBytes: memory.bytes, memoryInUseBytes: memory.inUseBytes }),
    ...{ diskBytes: blocks * bsize, diskInUseBytes: (blocks - bfree) * bsize },
    ...(network === null
      ? {}
      : { networkReceivedBytes: network.received, networkSentBytes: network.sent }),
  };
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
