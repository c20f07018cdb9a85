import { existsSync, readFileSync } from "node:fs";

/**
 * Lines that the writer of a file has ended; none while the file is not there. A program makes a file a moment before it writes the first line, so a file
 * that exists may be empty, and its last line may be cut.
 */
export function wholeLines(file: string): string[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, "utf8").split("\n").slice(0, -1);
}
