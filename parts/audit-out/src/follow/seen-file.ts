/** The newest checkpoint that was believed, one file a shard: what tells a later life that the log was rolled back or rewritten meanwhile. */
import { readdirSync, readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import { inOrder, slugOf } from "@resontech/audit/format/shard/shard-plan";
import { parseCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { type TrustedCheckpoint, openTrustedCheckpoint } from "./trusted-checkpoint.ts";
import type { NoteKey } from "@resontech/audit/format/note/note-key";
import type { SeenTree } from "@resontech/audit/format/wire/frames";

export async function readSeen(
  stateDir: string,
  slug: string,
  origin: string,
  keys: readonly NoteKey[],
): Promise<TrustedCheckpoint | null> {
  let note: Buffer;
  try {
    note = await readFile(pathOf(stateDir, slug));
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  return openTrustedCheckpoint(note, origin, keys);
}

export function writeSeen(
  stateDir: string,
  slug: string,
  { note }: TrustedCheckpoint,
): Promise<void> {
  return replaceFile(pathOf(stateDir, slug), note, 0o600);
}

/** Keeps two notes of one origin that contradict each other, under the name of the second's size; the first such pair stays. */
export async function keepEvidence(
  stateDir: string,
  slug: string,
  believed: TrustedCheckpoint,
  found: TrustedCheckpoint,
): Promise<void> {
  await replaceFile(join(stateDir, `${slug}.changed`), `${believed.note}\n${found.note}`, 0o600);
}

/** The newest tree of each shard that any life has believed, the newest shard first. */
export function seenTrees(stateDir: string): SeenTree[] {
  const trees: SeenTree[] = [];
  for (const name of readdirSync(stateDir).filter((one) => one.endsWith(".seen"))) {
    const checkpoint = parseCheckpoint(readFileSync(join(stateDir, name), "utf8"));
    if (checkpoint === null) continue;
    const { origin, size, root } = checkpoint;
    trees.push({ origin, size, root: root.toString("hex"), by: "reader" });
  }
  return trees.sort((a, b) => inOrder(slugOf(b.origin), slugOf(a.origin)));
}

function pathOf(stateDir: string, slug: string): string {
  return join(stateDir, `${slug}.seen`);
}
