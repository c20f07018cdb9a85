/** Times of the log, `YYYY-MM-DDTHH:MM:SS.sssZ`. Of many events in a row the time is the same: the last one that was written and the last one read are remembered. */

let written = { text: "1970-01-01T00:00:00.000Z", ms: 0 };
let read = written;

export function instantOf(ms: number): string {
  if (ms !== written.ms) written = { text: new Date(ms).toISOString(), ms };
  return written.text;
}

/** Milliseconds since 1970; null for what is in no calendar or written otherwise. */
export function msOf(text: string): number | null {
  if (text === written.text) return written.ms;
  if (text === read.text) return read.ms;
  const ms = Date.parse(text);
  if (Number.isNaN(ms) || new Date(ms).toISOString() !== text) return null;
  read = { text, ms };
  return ms;
}
