/** What the last backup to a target knew of each file, on this host: a cache that costs nothing but time where it is lost. */
import { createReadStream } from "node:fs";
import type { KnownEntry } from "./copy-objects.ts";
import { textLines } from "./text-lines.ts";

/** Reads entries by path; empty where there is no file, or it can't be read. */
export async function readKnown(file: string): Promise<Map<string, KnownEntry>> {
  const known = new Map<string, KnownEntry>();
  try {
    for await (const line of textLines(createReadStream(file) as AsyncIterable<Buffer>)) {
      const one = JSON.parse(line) as KnownEntry;
      known.set(one.entry.path, one);
    }
    return known;
  } catch {
    return new Map();
  }
}
