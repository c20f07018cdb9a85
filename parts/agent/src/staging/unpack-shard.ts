/**
 * Unpacks a shard while its bytes arrive: its directory says beforehand what lies where. Blocks while it writes, so it runs on a thread of
 * its own (`off-thread/`).
 */
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { crc32, createInflateRaw, inflateRawSync } from "node:zlib";
import type yauzl from "yauzl";
import { evaluateEntry } from "../decisions/zip-entry.ts";
import { MemberFailure } from "../member-failure.ts";
import { ByteFeed } from "./byte-feed.ts";
import { ContentDigest } from "./content-digest.ts";
import type { FetchedInput } from "./fetch-file.ts";
import { invalidShard } from "./invalid-shard.ts";
import { KeptCopy } from "./kept-copy.ts";
import { objectBytes, type Source } from "./object-bytes.ts";
import { readShardDirectory } from "./shard-directory.ts";

const TELL_EVERY = 256;
const LOCAL_HEAD_BYTES = 30;
const LOCAL_HEAD_SIGNATURE = 0x04034b50;
const STORED = 0;
/** Smaller ones are inflated at once: a stream for each of a million files costs more than they do. */
const SMALL_BYTES = 256 * 1024;
const WRITE_BYTES = 1024 * 1024;
/** Paths that the file system can't have beside one another, or at all: a file that is also a folder, a name of 300 bytes. */
const UNUSABLE: readonly unknown[] = ["EEXIST", "ENOTDIR", "EISDIR", "ENAMETOOLONG", "EINVAL"];

export type UnpackProgress = { onBytes: (bytes: number) => void; onFiles: (files: number) => void };

/**
 * @param folder empty, and no process's but ours: nothing is ever written through a link, for none is made
 * @param copy a file to keep the shard itself in
 * @returns the SHA-256 of that copy, in hex; null where there is none
 * @throws MemberFailure `shard_invalid` of paths that lead outside, links, encrypted, doubled and overlapping entries, and damage;
 * `disk_limit` of more than `maxBytes`; `staging_failed` of what is not the object that was accepted; ENOSPC of a full disk; the signal's reason
 */
export async function unpackShard(
  source: Source,
  input: FetchedInput,
  folder: string,
  maxBytes: number,
  { onBytes, onFiles }: UnpackProgress,
  signal: AbortSignal,
  copy?: string,
): Promise<string | null> {
  const entries = await readShardDirectory(source, input, signal);
  const digest = new ContentDigest(input);
  await using kept = new KeptCopy(copy);
  const feed = new ByteFeed(
    watched(objectBytes(source, input, { start: 0, end: input.sizeBytes }, signal)),
  );
  let [files, bytes] = [0, 0];
  try {
    for (const entry of entries) {
      signal.throwIfAborted();
      const verdict = evaluateEntry(entry);
      if (!verdict.ok) throw invalidShard(verdict.why);
      bytes += entry.uncompressedSize;
      if (bytes > maxBytes)
        throw new MemberFailure(
          "disk_limit",
          `the shard unpacks to more than the ${maxBytes} bytes of its site's disk`,
        );
      await unpackEntry(feed, entry, verdict.kind, verdict.path, folder);
      files += 1;
      if (files % TELL_EVERY === 0) onFiles(files);
    }
    // To the end, for the digest of the whole.
    await feed.skip(input.sizeBytes - feed.position);
    digest.check();
    onFiles(files);
    return await kept.finish();
  } finally {
    await feed.close();
  }

  async function* watched(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer, void> {
    for await (const chunk of chunks) {
      digest.add(chunk);
      await kept.write(chunk);
      onBytes(chunk.length);
      yield chunk;
    }
  }
}

async function unpackEntry(
  feed: ByteFeed,
  entry: yauzl.Entry,
  kind: "file" | "folder",
  path: string,
  folder: string,
): Promise<void> {
  const shown = JSON.stringify(path.slice(0, 120));
  try {
    await reachContent(feed, entry, shown);
    const target = join(folder, path);
    if (kind === "folder") {
      mkdirSync(target, { recursive: true });
      await feed.skip(entry.compressedSize);
      return;
    }
    mkdirSync(dirname(target), { recursive: true });
    const file = new FileWriter(target, entry.uncompressedSize);
    try {
      if (entry.compressionMethod === STORED) await copyStored(feed, entry.compressedSize, file);
      else if (Math.max(entry.compressedSize, entry.uncompressedSize) <= SMALL_BYTES)
        await inflateSmall(feed, entry, file);
      else await inflateLarge(feed, entry.compressedSize, file);
      file.finish();
    } finally {
      file.close();
    }
    if (file.sum !== entry.crc32 || file.size !== entry.uncompressedSize)
      throw invalidShard(`${shown} is damaged: its CRC-32 differs`);
  } catch (error) {
    if (error instanceof MemberFailure) throw error;
    const [code, call] =
      error instanceof Error && "syscall" in error && "code" in error
        ? [error.code, error.syscall]
        : [];
    if (code === "EEXIST" && call === "open") throw invalidShard(`it holds ${shown} twice`);
    if (code !== undefined && !UNUSABLE.includes(code)) throw error;
    throw invalidShard(
      `${shown} can't be unpacked: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}

/** Skips to the first byte of the content, past a head that must be where the directory says. */
async function reachContent(
  feed: ByteFeed,
  { relativeOffsetOfLocalHeader: at }: yauzl.Entry,
  shown: string,
): Promise<void> {
  if (at < feed.position) throw invalidShard(`${shown} lies over another of its files`);
  await feed.skip(at - feed.position);
  const head = await feed.exactly(LOCAL_HEAD_BYTES);
  if (head === null || head.readUInt32LE(0) !== LOCAL_HEAD_SIGNATURE)
    throw invalidShard(`${shown} can't be unpacked: it does not lie where the directory says`);
  await feed.skip(head.readUInt16LE(26) + head.readUInt16LE(28));
}

async function copyStored(feed: ByteFeed, count: number, file: FileWriter): Promise<void> {
  for (let left = count; left > 0; ) {
    const chunk = await feed.some(left);
    if (chunk === null) throw new Error("it is cut off");
    file.write(chunk);
    left -= chunk.length;
  }
}

async function inflateSmall(feed: ByteFeed, entry: yauzl.Entry, file: FileWriter): Promise<void> {
  const packed = await feed.exactly(entry.compressedSize);
  if (packed === null) throw new Error("it is cut off");
  file.write(inflateRawSync(packed, { maxOutputLength: Math.max(1, entry.uncompressedSize) }));
}

async function inflateLarge(feed: ByteFeed, count: number, file: FileWriter): Promise<void> {
  async function* packed(): AsyncGenerator<Buffer, void> {
    for (let left = count; left > 0; ) {
      const chunk = await feed.some(left);
      if (chunk === null) throw new Error("it is cut off");
      left -= chunk.length;
      yield chunk;
    }
  }
  const inflate = createInflateRaw({ chunkSize: WRITE_BYTES });
  const closed = new Promise<void>((resolve) => inflate.once("close", resolve));
  const feeding = (async () => {
    for await (const chunk of packed())
      if (!inflate.write(chunk))
        await Promise.race([
          closed,
          new Promise<void>((resolve) => inflate.once("drain", resolve)),
        ]);
    inflate.end();
  })();
  feeding.catch((error: unknown) =>
    inflate.destroy(error instanceof Error ? error : new Error(String(error))),
  );
  try {
    for await (const chunk of inflate as AsyncIterable<Buffer>) file.write(chunk);
  } finally {
    inflate.destroy();
    // The feed is free for the next entry.
    await feeding.catch(() => undefined);
  }
}

/** A new file, written in large pieces and summed on the way; more than it declared is refused before it is written. */
class FileWriter {
  readonly #fd: number;
  readonly #declared: number;
  readonly #piece: Buffer;
  #filled = 0;
  sum = 0;
  size = 0;

  constructor(path: string, declared: number) {
    this.#fd = openSync(path, "wx", 0o644);
    this.#declared = declared;
    this.#piece = Buffer.allocUnsafe(Math.min(WRITE_BYTES, declared));
  }

  write(bytes: Buffer): void {
    this.size += bytes.length;
    if (this.size > this.#declared)
      throw new Error("too many bytes: it yields more than it declares");
    this.sum = crc32(bytes, this.sum);
    for (let at = 0; at < bytes.length; ) {
      const copied = bytes.copy(this.#piece, this.#filled, at);
      at += copied;
      this.#filled += copied;
      if (this.#filled === this.#piece.length) this.#flush();
    }
  }

  finish(): void {
    this.#flush();
  }

  close(): void {
    closeSync(this.#fd);
  }

  #flush(): void {
    for (let at = 0; at < this.#filled; )
      at += writeSync(this.#fd, this.#piece, at, this.#filled - at);
    this.#filled = 0;
  }
}
