/** Lines of a part of a log, and which of them begins at a byte. Pure. */
import type { JobLogReply } from "@resontech/contracts/http-jobs";

export function partAround(
  { offset, text }: Pick<JobLogReply, "offset" | "text">,
  at: number,
): { lines: string[]; marked: number } {
  const lines = text.split("\n");
  const encoder = new TextEncoder();
  let from = offset;
  let marked = 0;
  while (marked < lines.length - 1) {
    const next = from + encoder.encode(lines[marked]).length + 1;
    if (next > at) break;
    from = next;
    marked += 1;
  }
  return { lines, marked };
}
