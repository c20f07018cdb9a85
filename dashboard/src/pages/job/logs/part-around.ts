/** Lines of a part of a log, where each begins, and which of them begins at a byte. Pure. */
import type { JobLogReply } from "@resontech/contracts/http-jobs";

export function partAround(
  { offset, text }: Pick<JobLogReply, "offset" | "text">,
  at: number,
): { lines: string[]; offsets: number[]; marked: number } {
  const lines = text.split("\n");
  const encoder = new TextEncoder();
  let next = offset;
  const offsets = lines.map((line) => {
    const from = next;
    next += encoder.encode(line).length + 1;
    return from;
  });
  const marked = Math.max(
    0,
    offsets.findLastIndex((from) => from <= at),
  );
  return { lines, offsets, marked };
}
