import { createHash, type Hash } from "node:crypto";
import { encryptTo } from "../age/encrypt-to.ts";
import { partPath } from "../manifest/backup-paths.ts";
import type { ManifestPart } from "../manifest/manifest.ts";
import type { Opened, Part } from "../parts/part.ts";
import type { Target } from "../targets/target.ts";
import { gzipped } from "./gzipped.ts";

/** Compresses, encrypts, writes. @throws BackupError, and what the part throws */
export async function writePart(
  target: Target,
  id: string,
  recipient: Uint8Array,
  part: Part,
): Promise<ManifestPart> {
  const source = await part.open();
  const { bytes, schema, readAtMs }: Opened = "bytes" in source ? source : { bytes: source };
  const [content, file] = [new Tally(), new Tally()];
  const packed = gzipped(content.of(bytes));
  await target.put(partPath(id, part.name), file.of(encryptTo(recipient, packed)));
  return {
    ...{ name: part.name, kind: part.kind, path: part.path },
    ...{ sha256: file.sha256, bytes: file.bytes },
    content: { sha256: content.sha256, bytes: content.bytes },
    ...(schema === undefined ? {} : { schema }),
    ...(readAtMs === undefined ? {} : { readAtMs }),
  };
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
