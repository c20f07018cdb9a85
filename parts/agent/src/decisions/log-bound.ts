/** Which bytes of what a member printed are stored: its beginning and its end, and in between how much was left out. Pure. */

const MIB = 1024 * 1024;
const MAX_CHUNK_BYTES = MIB;
export const LOG_HEAD_BYTES = 32 * MIB;
export const LOG_TAIL_BYTES = 32 * MIB;

export type LogStep =
  | { kind: "chunk"; bytes: number }
  /** From here on so many bytes are passed over, and a line says so in their place. */
  | { kind: "gap"; bytes: number };

/**
 * What is stored next; null: nothing yet, or nothing more. Once the beginning is full the rest waits for the member's end: which bytes are the last is
 * not known before. Whoever watches sees them live.
 * @param offset bytes that are dealt with @param printed bytes that there are @param isOver the member prints no more
 */
export function nextLogStep(offset: number, printed: number, isOver: boolean): LogStep | null {
  const left = printed - offset;
  if (left <= 0) return null;
  if (offset < LOG_HEAD_BYTES)
    return { kind: "chunk", bytes: Math.min(MAX_CHUNK_BYTES, left, LOG_HEAD_BYTES - offset) };
  if (offset === LOG_HEAD_BYTES) {
    if (!isOver) return null;
    if (left > LOG_TAIL_BYTES) return { kind: "gap", bytes: left - LOG_TAIL_BYTES };
  }
  return { kind: "chunk", bytes: Math.min(MAX_CHUNK_BYTES, left) };
}

/** A chunk is due when it is full, or has waited for so long. */
export function isFullChunk(step: LogStep): boolean {
  return step.bytes >= MAX_CHUNK_BYTES;
}

/** The line that stands for a gap. */
export function gapLine(bytes: number): string {
  return `\n[${bytes} bytes (${Math.round(bytes / MIB)} MiB) of this log were left out: the first and the last ${LOG_HEAD_BYTES / MIB} MiB are kept]\n`;
}
