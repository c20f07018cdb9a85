import { createHash } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { type FileRange, readRange } from "../file-range.ts";

/** SHA-256 in hex. @param copy a file to write the same bytes to, for nobody else to read */
export async function digestOf(
  range: FileRange,
  copy: string | undefined,
  onBytes: (bytes: number) => void,
  signal: AbortSignal,
): Promise<string> {
  await using target: FileHandle | null = copy === undefined ? null : await open(copy, "w", 0o600);
  const hash = createHash("sha256");
  for await (const chunk of readRange(range)) {
    signal.throwIfAborted();
    hash.update(chunk);
    await target?.writeFile(chunk);
    onBytes(chunk.length);
  }
  return hash.digest("hex");
}
