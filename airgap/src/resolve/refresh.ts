import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import {
  type DebianPin,
  digestOfPins,
  LOCK_FILE,
  type LockFile,
  OVERLAY_FILE,
  readLock,
} from "../lock/lock-file.ts";
import { resolveDebian, resolveWheels } from "./resolve.ts";
import { DEBIAN_ROOTS, WHEEL_SETS } from "../lock/roots.ts";

/** One pin that moved: what a reviewer reads before committing the new lock. */
export type PinChange = { set: string; name: string; from: string | null; to: string | null };

async function resolveAllDebian(): Promise<Record<string, DebianPin[]>> {
  const deb: Record<string, DebianPin[]> = {};
  for (const [name, root] of Object.entries(DEBIAN_ROOTS))
    deb[name] = await resolveDebian(root.include, root.exclude);
  return deb;
}

/** Resolves every Debian root and wheel set anew and writes the lock; answers what moved. */
export async function refreshLock(): Promise<PinChange[]> {
  const lock = readLock(false);
  const pypi: LockFile["pypi"] = {};
  for (const [name, set] of Object.entries(WHEEL_SETS)) pypi[name] = await resolveWheels(set);
  const fresh: LockFile = { ...lock, deb: await resolveAllDebian(), pypi };
  write(LOCK_FILE, fresh);
  return [...diffPins(lock.deb, fresh.deb), ...diffPins(lock.pypi, fresh.pypi)];
}

/** Today's Debian pins beside the lock, for a development machine only; the committed lock stays. */
export async function refreshOverlay(): Promise<PinChange[]> {
  const lock = readLock(false);
  const before = existsSync(OVERLAY_FILE) ? readLock(true).deb : lock.deb;
  const deb = await resolveAllDebian();
  write(OVERLAY_FILE, { of: digestOfPins(lock), deb });
  return diffPins(before, deb);
}

/** Pins that differ between two sets of the same kind, by set and name. */
export function diffPins(
  before: Readonly<Record<string, readonly { name: string; version: string }[]>>,
  after: Readonly<Record<string, readonly { name: string; version: string }[]>>,
): PinChange[] {
  const changes: PinChange[] = [];
  for (const set of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const old = new Map((before[set] ?? []).map((pin) => [pin.name, pin.version]));
    const now = new Map((after[set] ?? []).map((pin) => [pin.name, pin.version]));
    for (const name of new Set([...old.keys(), ...now.keys()])) {
      const [from, to] = [old.get(name) ?? null, now.get(name) ?? null];
      if (from !== to) changes.push({ set, name, from, to });
    }
  }
  return changes;
}

function write(file: string, value: unknown): void {
  const text = `${JSON.stringify(value, null, 1)}\n`;
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  writeFileSync(`${file}.part`, text);
  renameSync(`${file}.part`, file);
}
