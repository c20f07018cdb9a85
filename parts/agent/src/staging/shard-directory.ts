/** The directory of a shard, which stands at its end, read by ranges before the shard itself is. */
import { callbackify, promisify } from "node:util";
import yauzl from "yauzl";
import { invalidShard } from "./invalid-shard.ts";
import { objectBytes, type Source, type SourceObject } from "./object-bytes.ts";

const MAX_ENTRIES = 1_000_000;
const MAX_DIRECTORY_BYTES = 64 * 1024 * 1024;
/** The end record with its longest comment, and the zip64 records before it. */
const TAIL_BYTES = 22 + 65_535 + 20 + 56;

/**
 * In the order in which the entries lie in the shard.
 * @throws MemberFailure `shard_invalid` of what is no zip, or `staging_failed`; the signal's reason
 */
export async function readShardDirectory(
  source: Source,
  object: SourceObject,
  signal: AbortSignal,
): Promise<yauzl.Entry[]> {
  const reader = new ObjectReader(source, object, signal);
  const zip = await openZip(reader, object.sizeBytes).catch((error: unknown) => {
    throw reader.fault ?? invalidShard(`it is no zip file: ${textOf(error)}`);
  });
  if (zip.entryCount > MAX_ENTRIES)
    throw invalidShard(`it has ${zip.entryCount} entries, at most ${MAX_ENTRIES} are unpacked`);
  const entries: yauzl.Entry[] = [];
  try {
    for await (const entry of zip.eachEntry()) entries.push(entry);
  } catch (error) {
    throw reader.fault ?? invalidShard(`its directory is refused: ${textOf(error)}`);
  }
  return entries.sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
}

async function openZip(reader: ObjectReader, sizeBytes: number): Promise<yauzl.ZipFile> {
  const open = promisify<yauzl.RandomAccessReader, number, yauzl.Options, yauzl.ZipFile>(
    yauzl.fromRandomAccessReader,
  );
  // Names are read by our own rule.
  return await open(reader, sizeBytes, {
    lazyEntries: true,
    autoClose: false,
    decodeStrings: false,
    validateEntrySizes: true,
  });
}

/** Has all from some byte on to the end; who asks for earlier ones makes it fetch these. */
class ObjectReader extends yauzl.RandomAccessReader {
  /** Why bytes did not come, where that was not the shard's fault. */
  fault: unknown = null;
  readonly #source: Source;
  readonly #object: SourceObject;
  readonly #signal: AbortSignal;
  #start: number;
  #bytes = Buffer.alloc(0);

  constructor(source: Source, object: SourceObject, signal: AbortSignal) {
    super();
    this.#source = source;
    this.#object = object;
    this.#signal = signal;
    this.#start = object.sizeBytes;
  }

  /** Directly: a stream for each of a million heads would take minutes. */
  override read(
    buffer: Buffer,
    offset: number,
    length: number,
    position: number,
    callback: (error: Error | null) => void,
  ): void {
    callbackify(async () => this.#copy(buffer.subarray(offset, offset + length), position))(
      callback,
    );
  }

  async #copy(into: Buffer, position: number): Promise<void> {
    try {
      await this.#reach(Math.min(position, Math.max(0, this.#object.sizeBytes - TAIL_BYTES)));
    } catch (error) {
      this.fault = error;
      throw error;
    }
    this.#bytes.copy(into, 0, position - this.#start);
  }

  async #reach(start: number): Promise<void> {
    if (start >= this.#start) return;
    if (this.#start - start > MAX_DIRECTORY_BYTES)
      throw invalidShard(`its directory has more than ${MAX_DIRECTORY_BYTES} bytes`);
    const chunks: Buffer[] = [];
    for await (const chunk of objectBytes(
      this.#source,
      this.#object,
      { start, end: this.#start },
      this.#signal,
    ))
      chunks.push(chunk);
    this.#bytes = Buffer.concat([...chunks, this.#bytes]);
    this.#start = start;
  }
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
