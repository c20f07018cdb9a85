/**
 * Text whose lines end at blanks where the terminal would break them; what follows stands indented. A word longer than a line stays whole, for
 * ids and addresses are copied. Pure.
 *
 * @param columns of the terminal; null where there is none: then the text stays as it is
 * @param indent of the lines that follow, beyond the one that they follow
 */
export function wrapped(text: string, columns: number | null, indent = 2): string {
  if (columns === null) return text;
  return text
    .split("\n")
    .map((line) => wrappedLine(line, columns, indent))
    .join("\n");
}

function wrappedLine(line: string, columns: number, indent: number): string {
  if (line.length < columns) return line;
  const lead = /^ */.exec(line)![0];
  const behind = " ".repeat(Math.min(lead.length + indent, columns >> 1));
  const lines: string[] = [];
  let now = lead;
  // A word with the blanks before it: those between two columns stay.
  for (const word of line.slice(lead.length).match(/ *[^ ]+/g) ?? []) {
    // One column stays free: some terminals break a line that fills the last one.
    if (now.trim() !== "" && now.length + word.length >= columns) {
      lines.push(now);
      now = behind + word.trimStart();
    } else now += word;
  }
  return [...lines, now].join("\n");
}
