import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/**
 * Kills every process of an appliance at once, as far as a machine that goes on can be without power: installer, supervisor, parts, container engine. The
 * containers of jobs stay, as those of a host whose agent died.
 *
 * @param root of the installation
 * @returns how many there were
 */
export async function cutPower(root: string): Promise<number> {
  let killed = 0;
  // Whoever was starting something just now has it in the list of the next look.
  for (let looks = 0; looks < 5; looks++) {
    const found = processesOf(root);
    for (const pid of found)
      try {
        process.kill(pid, "SIGKILL");
        killed += 1;
      } catch {
        // It went by itself.
      }
    if (found.length === 0) return killed;
    await sleep(200);
  }
  throw new Error(`of ${root} still run: ${processesOf(root).join(", ")}`);
}

/** Those whose program lies below the root, or that were started with a path below it; never this process. Keepers of containers stay with them. */
function processesOf(root: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number)
    .filter((pid) => {
      try {
        const program = readlinkSync(`/proc/${pid}/exe`);
        const words = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        if (/\/(conmon|runc|aardvark-dns|catatonit)$/.test(program)) return false;
        return [program, ...words].some((word) => word === root || word.startsWith(`${root}/`));
      } catch {
        // It went meanwhile, or is of the kernel.
        return false;
      }
    });
}
