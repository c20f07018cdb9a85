/** Files that are given out to whoever asks. The list is closed and made once: what is asked for is a key of it and never a part of a path. */
import { createReadStream, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { ApiError } from "../api-error.ts";

/** Each holds an open file and the buffers of a slow reader. */
const MAX_OPEN = 16;

export type GivenFile = { sizeBytes: number; bytes: Readable };

export class GivenFiles {
  readonly #files: ReadonlyMap<string, string>;
  readonly #otherwise: string;
  #open = 0;

  /** @param files key → path @param otherwise what is said of any other key */
  constructor(files: ReadonlyMap<string, string>, otherwise: string) {
    this.#files = files;
    this.#otherwise = otherwise;
  }

  /** @throws ApiError `not_found`; `overloaded` while too many are being read */
  open(key: string): GivenFile {
    const file = this.#files.get(key);
    const size = file === undefined ? undefined : statSync(file, { throwIfNoEntry: false })?.size;
    if (file === undefined || size === undefined) throw new ApiError("not_found", this.#otherwise);
    if (this.#open >= MAX_OPEN)
      throw new ApiError("overloaded", `more than ${MAX_OPEN} files are being read`);
    this.#open += 1;
    const bytes = createReadStream(file, { end: Math.max(0, size - 1) });
    bytes.once("close", () => {
      this.#open -= 1;
    });
    return { sizeBytes: size, bytes };
  }
}
