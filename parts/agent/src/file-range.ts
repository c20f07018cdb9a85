import { read } from "node:fs";
import { promisify } from "node:util";

const readAt = promisify(read);
const CHUNK_BYTES = 256 * 1024;

/** Bytes `start` to `start + length - 1` of an open file, which stays the caller's. */
export type FileRange = { fd: number; start: number; length: number };

/**
 * In constant memory. Not a read stream: one that is given up closes its descriptor, `autoClose: false` or not, and what its owner then reads or closes
 * under that number is another file.
 * @throws Error where the file ends before the range does
 */
export async function* readRange({ fd, start, length }: FileRange): AsyncGenerator<Buffer, void> {
  for (let done = 0; done < length; ) {
    const chunk = Buffer.allocUnsafe(Math.min(CHUNK_BYTES, length - done));
    const { bytesRead } = await readAt(fd, chunk, 0, chunk.length, start + done);
    if (bytesRead === 0)
      throw new Error(`the file ends ${length - done} bytes before what is to be read of it`);
    done += bytesRead;
    yield chunk.subarray(0, bytesRead);
  }
}
