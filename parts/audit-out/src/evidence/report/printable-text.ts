/** Text of others as a font of the report can show it, and broken into lines. */

/**
 * Controls, invisible and bidirectional characters, and those that the font lacks become `\u{…}`: nothing is lost, and nothing moves what stands around it.
 * @param known code points that the font has
 */
export function printable(text: string, known: ReadonlySet<number>): string {
  return Array.from(text, (character) => {
    const code = character.codePointAt(0)!;
    return known.has(code) && !/\p{C}/u.test(character) ? character : `\\u{${code.toString(16)}}`;
  }).join("");
}

/**
 * Lines of at most `width`, broken between words; a word that is wider than a line is broken where the line is full.
 * @param widthOf of one character
 */
export function wrap(
  text: string,
  width: number,
  widthOf: (character: string) => number,
): string[] {
  const lines: string[] = [];
  let line = "";
  let used = 0;
  const end = (): void => {
    lines.push(line);
    line = "";
    used = 0;
  };
  for (const word of text.split(" ")) {
    const wide = lengthOf(word, widthOf);
    const gap = widthOf(" ");
    if (line !== "" && used + gap + wide > width) end();
    else if (line !== "") {
      line += " ";
      used += gap;
    }
    for (const character of word) {
      const more = widthOf(character);
      if (line !== "" && used + more > width) end();
      line += character;
      used += more;
    }
  }
  end();
  return lines;
}

/** Character by character: that is how text is drawn, without kerning. */
export function lengthOf(text: string, widthOf: (character: string) => number): number {
  let length = 0;
  for (const character of text) length += widthOf(character);
  return length;
}
