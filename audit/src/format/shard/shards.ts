/** A log is a folder of shards, each with a tree of its own; `current` names the one that is written. */
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceFile } from "@resontech/frame/durable-file";
import { LogDamagedError } from "../tree/log-reader.ts";

const SLUG_LINE = /^([0-9]{4}(?:-[1-9][0-9]{0,3})?)\n$/;

/** The shard that is written; null before there is a log. @throws LogDamagedError when the pointer is none */
export async function currentSlug(auditDir: string): Promise<string | null> {
  const path = join(auditDir, "current");
  let line: string;
  try {
    line = await readFile(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    throw error;
  }
  const [, slug] = SLUG_LINE.exec(line) ?? [];
  if (slug === undefined) throw new LogDamagedError(0, `${path} names no shard`);
  return slug;
}

/** Makes this shard the one that is written from now on; durable when it resolves. */
export async function setCurrentSlug(auditDir: string, slug: string): Promise<void> {
  await replaceFile(join(auditDir, "current"), `${slug}\n`, 0o440);
}

/** The folder of one shard's tree. */
export function shardFolder(auditDir: string, slug: string): string {
  return join(auditDir, slug);
}
