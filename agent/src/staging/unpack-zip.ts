import { createWriteStream, existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { type Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { crc32 } from "node:zlib";
import yauzl from "yauzl";
import { judgeEntry } from "../decisions/zip-entry.ts";
import { MemberFailure } from "../members/member-failure.ts";

const MAX_ENTRIES = 1_000_000;
const TELL_EVERY = 256;
/** Paths that the file system can't have beside one another, or at all: a file that is also a folder, a name of 300 bytes. */
const UNUSABLE: readonly unknown[] = ["EEXIST", "ENOTDIR", "EISDIR", "ENAMETOOLONG", "EINVAL"];

/**
 * Unpacks a shard of any layout into `folder`, which must be empty and no process's but ours. Paths that lead outside, links, encrypted
 * and doubled entries, damage, and more bytes than `maxBytes` are refused as `shard_invalid`; a full file system is left to the caller
 * (ENOSPC). Nothing is ever written through a link: none is made.
 */
export async function unpackZip(
  file: string,
  folder: string,
  maxBytes: number,
  onFiles: (files: number) => void,
  signal: AbortSignal,
): Promise<void> {
  const zip = await open(file);
  try {
    if (zip.entryCount > MAX_ENTRIES) throw invalid(`it has ${zip.entryCount} entries, at most ${MAX_ENTRIES} are unpacked`);
    let [files, bytes] = [0, 0];
    for await (const entry of entriesOf(zip)) {
      signal.throwIfAborted();
      const verdict = judgeEntry(entry);
      if (!verdict.ok) throw invalid(verdict.why);
      bytes += entry.uncompressedSize;
      if (bytes > maxBytes) throw invalid(`it unpacks to more than ${maxBytes} bytes`);
      await unpackEntry(zip, entry, verdict.kind, join(folder, verdict.path), signal);
      files += 1;
      if (files % TELL_EVERY === 0) onFiles(files);
    }
    onFiles(files);
  } finally {
    zip.close();
  }
}

async function unpackEntry(
  zip: yauzl.ZipFile,
  entry: yauzl.Entry,
  kind: "file" | "folder",
  target: string,
  signal: AbortSignal,
): Promise<void> {
  try {
    if (kind === "folder") {
      mkdirSync(target, { recursive: true });
      return;
    }
    mkdirSync(dirname(target), { recursive: true });
    if (existsSync(target)) throw invalid(`it holds ${JSON.stringify(entry.fileName.slice(0, 120))} twice`);
    const stream = await promisify<yauzl.Entry, Readable>(zip.openReadStream.bind(zip))(entry);
    const sum = { crc32: 0 };
    await pipeline(stream, summing(sum), createWriteStream(target, { flags: "wx" }), { signal });
    if (sum.crc32 !== entry.crc32)
      throw invalid(`${JSON.stringify(entry.fileName.slice(0, 120))} is damaged: its CRC-32 differs`);
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof MemberFailure) throw error;
    const code = error instanceof Error && "syscall" in error && "code" in error ? error.code : undefined;
    if (code !== undefined && !UNUSABLE.includes(code)) throw error;
    throw invalid(`${JSON.stringify(entry.fileName.slice(0, 120))} can't be unpacked: ${textOf(error)}`);
  }
}

/** Passes bytes on and adds them to the sum that a zip states of each file. */
function summing(sum: { crc32: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum.crc32 = crc32(chunk, sum.crc32);
      done(null, chunk);
    },
  });
}

async function open(file: string): Promise<yauzl.ZipFile> {
  try {
    return await promisify<string, yauzl.Options, yauzl.ZipFile>(yauzl.open)(file, {
      lazyEntries: true,
      autoClose: false,
      // An entry that yields more than it declared ends there: the sum of declared sizes bounds what is written.
      validateEntrySizes: true,
    });
  } catch (error) {
    throw invalid(`it is no zip file: ${textOf(error)}`);
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
        reject(invalid(`its directory is refused: ${error.message}`));
      };
      zip.once("entry", onEntry).once("error", onError);
      zip.readEntry();
    });
  }
}

function invalid(why: string): MemberFailure {
  return new MemberFailure("shard_invalid", `the shard can't be used: ${why}`);
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
