import { readdirSync, readFileSync } from "node:fs";
import type { HostProcess } from "./decisions/memory-by-part.ts";

/** Every process of the host that has memory, without those that ended meanwhile. @param folder of the kernel's files of processes */
export function readProcesses(folder = "/proc"): HostProcess[] {
  return readdirSync(folder)
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const status = textOf(`${folder}/${name}/status`);
      const [, parent] = /^PPid:\s+(\d+)$/m.exec(status) ?? [];
      // The kernel's own threads have none.
      const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(status) ?? [];
      return parent === undefined || kib === undefined
        ? []
        : [{ pid: Number(name), parent: Number(parent), residentBytes: Number(kib) * 1_024 }];
    });
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
