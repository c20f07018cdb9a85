/** Colours and the like, which a terminal obeys without moving. */
// oxlint-disable-next-line no-control-regex
const STYLES = /\u001b\[[0-9;]*m/g;

/** What a job printed: a progress bar that writes over its line gets a line each time, colours go. Pure. */
export function printableLog(text: string): string {
  return printable(text.replaceAll(STYLES, "").replaceAll(/\r\n?/g, "\n"));
}

/** Text of a job without anything that a terminal obeys: escapes, and signs that turn a line round. Lines and tabs stay. Pure. */
export function printable(text: string): string {
  return text.replaceAll(
    /(?![\t\n])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}
