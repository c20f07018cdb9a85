/** Text of a job without anything that a terminal obeys: escapes, and signs that turn a line round. Lines and tabs stay. Pure. */
export function printable(text: string): string {
  return text.replaceAll(
    /(?![\t\n])[\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu,
    (sign) => `\\u{${sign.codePointAt(0)!.toString(16)}}`,
  );
}
