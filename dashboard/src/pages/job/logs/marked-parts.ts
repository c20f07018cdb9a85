/** A line in parts, those that a search found apart from the others. Pure. */
export type Part = { text: string; isMatch: boolean };

export function markedParts(line: string, text: string, isCaseSensitive: boolean): Part[] {
  const literal = text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
  const found = new RegExp(`(${literal})`, isCaseSensitive ? "gu" : "giu");
  // Split at a group: what it matched stands at every second place.
  return line
    .split(found)
    .map((part, at) => ({ text: part, isMatch: at % 2 === 1 }))
    .filter((part) => part.text !== "");
}
