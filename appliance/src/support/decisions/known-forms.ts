/** Forms in which a known value may stand in a text, as sources of regular expressions of the flag `u`. Pure. */

/** Shorter ones are likely to be a part of another word. */
const MIN_WITHIN_WORDS = 8;

/** The value as it is, escaped as in JSON and in a URL, in base64 and in hex; and each line of one that has several. */
export function knownForms(value: string): string[] {
  const text = value.trim().toWellFormed();
  if (text === "") return [];
  const bytes = Buffer.from(text);
  const lines = text.includes("\n")
    ? text.split("\n").flatMap((line) => {
        const inner = line.trim();
        // What frames a key in PEM says nothing of it.
        return inner.length < 2 * MIN_WITHIN_WORDS || inner.startsWith("-----") ? [] : [inner];
      })
    : [];
  return [
    ...[text, JSON.stringify(text).slice(1, -1), encodeURIComponent(text)],
    bytes.toString("base64").replace(/=+$/, ""),
    ...[bytes.toString("base64url"), bytes.toString("hex"), ...lines],
  ].map((form) => (form.length < MIN_WITHIN_WORDS ? wholeWord(form) : literal(form)));
}

/** Not as a part of a longer word. */
export function wholeWord(text: string): string {
  return String.raw`(?<![\p{L}\p{N}_])${literal(text)}(?![\p{L}\p{N}_])`;
}

function literal(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
