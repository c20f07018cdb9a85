/** SHA-256 of the release's files as they lie on the disk. One that is the same inode, unchanged, is not read twice. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

export type FileDigest = { path: string; sha256: string };

const READ_BYTES = 1_048_576;

export class FileDigests {
  readonly #folder: string;
  readonly #known = new Map<string, { mark: string; sha256: string }>();

  /** @param folder of the release; may be a link that is changed */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** @throws what the file system says of the first that can't be read */
  async of(paths: readonly string[]): Promise<FileDigest[]> {
    const digests: FileDigest[] = [];
    for (const path of paths)
      digests.push({ path, sha256: await this.#digest(join(this.#folder, path)) });
    return digests;
  }

  async #digest(file: string): Promise<string> {
    const { dev, ino, size, mtimeNs, ctimeNs } = await stat(file, { bigint: true });
    // The time of its last change is the kernel's own: whoever writes into it can't set that back.
    const mark = [dev, ino, size, mtimeNs, ctimeNs].join(" ");
    const known = this.#known.get(file);
    if (known?.mark === mark) return known.sha256;
    const hash = createHash("sha256");
    await pipeline(createReadStream(file, { highWaterMark: READ_BYTES }), hash);
    const sha256 = hash.digest("hex");
    this.#known.set(file, { mark, sha256 });
    return sha256;
  }
}
