/** Which bytes of a file a `Range` header asks for (RFC 9110, section 14). Pure. */

/** Both ends included. */
export type FileRange = { start: number; end: number };

/** Reads the range. Null is the whole file: without a header, and for one that is none of a single range of bytes. `none`: no byte of the file is meant. */
export function readRange(
  header: string | undefined,
  sizeBytes: number,
): FileRange | "none" | null {
  const [, from = "", to = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header ?? "") ?? [];
  if (from === "" && to === "") return null;
  if (from === "") {
    const last = Math.min(Number(to), sizeBytes);
    return last === 0 ? "none" : { start: sizeBytes - last, end: sizeBytes - 1 };
  }
  const start = Number(from);
  const end = to === "" ? sizeBytes - 1 : Math.min(Number(to), sizeBytes - 1);
  if (to !== "" && Number(to) < start) return null;
  return start >= sizeBytes ? "none" : { start, end };
}
