/** Pure: which calls of a journal have no end yet. */
import { readCallLine } from "./call-line.ts";

/** @param lines of the journal, oldest first @returns ids of calls without an end */
export function openCalls(lines: Iterable<string>): string[] {
  const open = new Set<string>();
  for (const text of lines) {
    const line = readCallLine(text);
    if (line?.kind === "call") open.add(line.id);
    if (line?.kind === "end") open.delete(line.id);
  }
  return [...open];
}
