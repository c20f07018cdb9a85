import { createHash, type Hash } from "node:crypto";
import { Readable } from "node:stream";
import { constants, createGzip } from "node:zlib";
import { encryptTo } from "../age/encrypt-to.ts";
import type { ManifestPart } from "../manifest/manifest.ts";
import type { Part } from "../parts/part.ts";
import type { Target } from "../targets/target.ts";

/** Where a part of a backup lies on the target. */
export function partPath(id: string, name: string): string {
  return `backups/${id}/${name}.gz.age`;
}

/** Compresses, encrypts, writes. @throws BackupError, and what the part throws */
export async function writePart(
  target: Target,
  id: string,
  recipient: Uint8Array,
  part: Part,
): Promise<ManifestPart> {
  const source = await part.open();
  const { bytes, schema } = "bytes" in source ? source : { bytes: source, schema: undefined };
  const [content, file] = [new Tally(), new Tally()];
  const packed = gzipped(content.of(bytes));
  await target.put(partPath(id, part.name), file.of(encryptTo(recipient, packed)));
  return {
    ...{ name: part.name, kind: part.kind, path: part.path },
    ...{ sha256: file.sha256, bytes: file.bytes },
    content: { sha256: content.sha256, bytes: content.bytes },
    ...(schema === undefined ? {} : { schema }),
  };
}

/** The fastest that gzip has: hours of CPU save no more than a third of the room. */
async function* gzipped(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const gzip = createGzip({ level: constants.Z_BEST_SPEED });
  const readable = Readable.from(source, { objectMode: false });
  readable.on("error", (error) => gzip.destroy(error));
  yield* readable.pipe(gzip) as AsyncIterable<Buffer>;
}

/** Counts and hashes what passes. */
class Tally {
  readonly #hash: Hash = createHash("sha256");
  bytes = 0;

  async *of(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const chunk of source) {
      this.#hash.update(chunk);
      this.bytes += chunk.length;
      yield chunk;
    }
  }

  get sha256(): string {
    return this.#hash.copy().digest("hex");
  }
}
