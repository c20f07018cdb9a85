/** A file as the verifier reads it. */
import { closeSync, openSync, readSync } from "node:fs";

const READ_BYTES = 1_048_576;

/** Reads into one buffer: a piece is valid until the next one is asked for. There is nothing to do meanwhile, so no other thread reads it. */
export async function* piecesOf(path: string): AsyncGenerator<Uint8Array> {
  const file = openSync(path, "r");
  try {
    const buffer = new Uint8Array(READ_BYTES);
    for (;;) {
      const bytesRead = readSync(file, buffer);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    closeSync(file);
  }
}
