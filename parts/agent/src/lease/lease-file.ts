import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { toMs, toNs } from "../boot-clock.ts";
import type { NodeDisk } from "../disk/node-disk.ts";

/** Answers a folder in memory, the same for every appliance of this name: mounted, it tells nothing of where an agent keeps its data. */
export function leaseFolder(instance: string): string {
  return join("/run/resontech", instance, "lease");
}

/**
 * The file that PID 1 of every job container reads: the boot-time deadline in nanoseconds, replaced in one step. Its folder is mounted, not
 * the file: a mounted file would stay the old one.
 */
export class LeaseFile {
  readonly folder: string;
  readonly #file: string;
  readonly #disk: Pick<NodeDisk, "withRoom">;

  constructor(folder: string, disk: Pick<NodeDisk, "withRoom">) {
    this.#disk = disk;
    this.folder = folder;
    this.#file = join(folder, "lease");
    mkdirSync(folder, { recursive: true, mode: 0o755 });
  }

  write(endsAtMs: number): void {
    this.#disk.withRoom(() =>
      writeFileSync(`${this.#file}.part`, `${toNs(endsAtMs)}\n`, { mode: 0o644 }),
    );
    renameSync(`${this.#file}.part`, this.#file);
  }

  /** When the lease of a former agent process ends or ended; null when there was none. */
  read(): number | null {
    try {
      const text = readFileSync(this.#file, "utf8").trim();
      return /^\d{1,19}$/.test(text) ? toMs(BigInt(text)) : null;
    } catch {
      return null;
    }
  }
}
