import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";

/** A temporary copy, which is gone once it was read, or given up. */
export async function* readOnce(file: string): AsyncGenerator<Uint8Array> {
  try {
    yield* createReadStream(file) as AsyncIterable<Buffer>;
  } finally {
    await rm(file, { force: true });
  }
}
