import { createWriteStream, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import yauzl from "yauzl";
import { judgeEntry } from "../decisions/zip-entry.ts";
import { MemberFailure } from "../members/member-failure.ts";

const MAX_ENTRIES = 1_000_000;

/**
 * Unpacks a shard of any layout into `folder`. Paths that lead outside, links, encrypted and doubled entries, and more bytes than `maxBytes`
 * are refused as `shard_invalid`; a full file system is the caller's `disk_limit`.
 */
export async function unpackZip(
  file: string,
  folder: string,
  maxBytes: number,
  onFile: (files: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const zip = await promisify<string, yauzl.Options, yauzl.ZipFile>(yauzl.open)(file, {
    lazyEntries: true,
    autoClose: false,
    validateEntrySizes: true,
  }).catch((error: unknown) => {
    throw new MemberFailure(
      "shard_invalid",
      `the shard is no zip file: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  try {
    if (zip.entryCount > MAX_ENTRIES)
      throw new MemberFailure("shard_invalid", `the shard has ${zip.entryCount} entries, at most ${MAX_ENTRIES} are unpacked`);
    let [files, bytes] = [0, 0];
    for await (const entry of entriesOf(zip)) {
      signal.throwIfAborted();
      const verdict = judgeEntry(entry);
      if (!verdict.ok) throw new MemberFailure("shard_invalid", `the shard is refused: ${verdict.why}`);
      const target = join(folder, verdict.path);
      if (verdict.kind === "folder") {
        mkdirSync(target, { recursive: true });
        continue;
      }
      bytes += entry.uncompressedSize;
      if (bytes > maxBytes) throw new MemberFailure("shard_invalid", `the shard unpacks to more than ${maxBytes} bytes`);
      mkdirSync(dirname(target), { recursive: true });
      if (existsSync(target)) throw new MemberFailure("shard_invalid", `the shard holds ${JSON.stringify(verdict.path)} twice`);
      const stream = await promisify<yauzl.Entry, Readable>(zip.openReadStream.bind(zip))(entry);
      await pipeline(stream, createWriteStream(target, { flags: "wx" }), { signal });
      files += 1;
      if (files % 256 === 0) onFile(files);
    }
    onFile(files);
  } finally {
    zip.close();
  }
}

async function* entriesOf(zip: yauzl.ZipFile): AsyncGenerator<yauzl.Entry> {
  for (let read = 0; read < zip.entryCount; read += 1) {
    yield await new Promise<yauzl.Entry>((resolve, reject) => {
      const onEntry = (entry: yauzl.Entry): void => {
        zip.off("error", onError);
        resolve(entry);
      };
      const onError = (error: Error): void => {
        zip.off("entry", onEntry);
        reject(new MemberFailure("shard_invalid", `the shard's directory is damaged: ${error.message}`));
      };
      zip.once("entry", onEntry).once("error", onError);
      zip.readEntry();
    });
  }
}
