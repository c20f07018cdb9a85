import { readdirSync, realpathSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";

/** What the agent keeps its data on: bytes of the file system, used or not, and whether NVMe disks are beneath; null where that is not known. */
export function readDataDisk(
  dataDir: string,
  sysfs = "/sys",
): { diskBytes: number; isNvme: boolean | null } {
  const { blocks, bsize } = statfsSync(dataDir);
  const { dev } = statSync(dataDir);
  // As glibc splits the number of a device.
  const [major, minor] = [(dev >>> 8) & 0xfff, (dev & 0xff) | ((dev >>> 12) & 0xfff00)];
  return {
    diskBytes: blocks * bsize,
    isNvme: isOnNvme(join(sysfs, "dev/block", `${major}:${minor}`)),
  };
}

/** A volume of several disks is as its slowest. Disks of a virtual machine are whatever its host has: not known. */
function isOnNvme(device: string): boolean | null {
  let folder: string;
  try {
    folder = realpathSync(device);
  } catch {
    return null;
  }
  const beneath = namesIn(join(folder, "slaves"));
  if (beneath.length > 0) {
    const each = beneath.map((name) => isOnNvme(join(folder, "slaves", name)));
    return each.includes(false) ? false : each.includes(null) ? null : true;
  }
  if (/\/nvme\d/.test(folder)) return true;
  return /\/virtio|\/virtual\/|\/vbd-/.test(folder) ? null : false;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
