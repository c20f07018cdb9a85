/**
 * What opens the commitments of leaves, apart from them: `disclosures/<group>.jsonl`, 0600, a line each, in order of the leaves.
 * Durable before the batch that its leaves are in, so a leaf never stands without it; lines of leaves that did not make it are cut at start.
 */
import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Disclosure } from "@resontech/contracts/audit-event";
import { syncFolder, type WithRoom } from "../log/durable-file.ts";

/** Leaves whose disclosures share a file. */
const GROUP_LEAVES = 65_536;
const FILE_NAME = /^[0-9]{8}\.jsonl$/;

export class Sidecar {
  readonly #folder: string;
  readonly #withRoom: WithRoom;
  #group = -1;
  #handle: FileHandle | null = null;

  private constructor(folder: string, withRoom: WithRoom) {
    this.#folder = folder;
    this.#withRoom = withRoom;
  }

  /** Opens the sidecar of a log of `size` leaves. */
  static async open(folder: string, size: number, withRoom: WithRoom): Promise<Sidecar> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of await readdir(folder))
      if (FILE_NAME.test(name) && (groupOf(name) + 1) * GROUP_LEAVES > size) await cutFrom(join(folder, name), size);
    return new Sidecar(folder, withRoom);
  }

  /** Appends what opens commitments of the leaf at `index`; durable when it resolves. Indices never decrease. */
  async append(
    entries: readonly { index: number; disclosures: readonly (Disclosure & { commitment: string })[] }[],
  ): Promise<void> {
    const byGroup = Map.groupBy(entries, ({ index }) => Math.floor(index / GROUP_LEAVES));
    for (const [group, members] of byGroup) {
      const handle = await this.#handleOf(group);
      const lines = members.flatMap(({ index, disclosures }) =>
        disclosures.map(({ field, commitment, salt, value }) => `${JSON.stringify({ index, field, commitment, salt, value })}\n`),
      );
      const { size } = await handle.stat();
      await this.#withRoom(async () => {
        // A first try may have left a part.
        await handle.truncate(size);
        await handle.appendFile(lines.join(""));
      });
      await handle.datasync();
    }
  }

  async close(): Promise<void> {
    await this.#handle?.close();
    this.#handle = null;
  }

  async #handleOf(group: number): Promise<FileHandle> {
    if (this.#handle !== null && group === this.#group) return this.#handle;
    await this.#handle?.close();
    const path = join(this.#folder, `${String(group).padStart(8, "0")}.jsonl`);
    this.#handle = await this.#withRoom(() => open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND, 0o600));
    this.#group = group;
    await syncFolder(this.#folder);
    return this.#handle;
  }
}

function groupOf(name: string): number {
  return Number(name.slice(0, 8));
}

/** Keeps the whole lines of leaves below `size`: lines are in order, so what goes is a tail. */
async function cutFrom(path: string, size: number): Promise<void> {
  const content = await readFile(path);
  let kept = 0;
  while (kept < content.length) {
    const end = content.indexOf(0x0a, kept);
    if (end === -1 || indexOfLine(content.subarray(kept, end)) >= size) break;
    kept = end + 1;
  }
  if (kept === content.length) return;
  const handle = await open(path, constants.O_WRONLY);
  try {
    await handle.truncate(kept);
    // Their indices are given again: after a power cut they must not be back beside other leaves.
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function indexOfLine(line: Buffer): number {
  const match = /^\{"index":([0-9]{1,16}),/.exec(line.subarray(0, 32).toString("latin1"));
  return match === null ? Number.POSITIVE_INFINITY : Number(match[1]);
}
