import { readdirSync, readlinkSync, statSync } from "node:fs";
import { join } from "node:path";

/** Device files that a process may hold open, by their numbers. */
export type DeviceFiles = { renderNode: string | null; cardNode: string | null };

/**
 * How many processes compute on each: they hold its render node and not its card, which a display server holds too. A file is known by the
 * device's numbers, for a container may call it by another name.
 */
export function countUsers(devices: readonly DeviceFiles[], procfs = "/proc"): number[] {
  const numbers = devices.map(({ renderNode, cardNode }) => ({
    render: deviceNumber(renderNode),
    card: deviceNumber(cardNode),
  }));
  const counts = devices.map(() => 0);
  if (numbers.every(({ render }) => render === null)) return counts;
  for (const pid of namesIn(procfs).filter((name) => /^\d+$/.test(name))) {
    const held = openDevices(join(procfs, pid, "fd"));
    for (const [index, { render, card }] of numbers.entries())
      if (render !== null && held.has(render) && (card === null || !held.has(card)))
        counts[index] = counts[index]! + 1;
  }
  return counts;
}

function openDevices(folder: string): Set<number> {
  const held = new Set<number>();
  for (const name of namesIn(folder)) {
    const file = join(folder, name);
    const number = linkOf(file).startsWith("/dev/") ? deviceNumber(file) : null;
    if (number !== null) held.add(number);
  }
  return held;
}

/** Answers the number by which the kernel knows a device file; null for what is none, or is gone. */
function deviceNumber(file: string | null): number | null {
  try {
    const stat = file === null ? null : statSync(file);
    return stat?.isCharacterDevice() === true ? stat.rdev : null;
  } catch {
    return null;
  }
}

function linkOf(file: string): string {
  try {
    return readlinkSync(file);
  } catch {
    return "";
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
