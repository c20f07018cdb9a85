/** What a part said before it ended, for a person: the frames of a stack say where, and push what happened out of sight. Pure. */

const SHOWN = 6;
const LONGEST = 400;
/** Frames of Node and Java, the caret below a source line, Node's own name after an error, and brackets that close what was printed. */
const NOISE = [/^\s+at\s/, /^\s*\^+\s*$/, /^Node\.js v\d/, /^\s*\.\.\. \d+ more/, /^[\s{}\]]*$/];

/** @param text the end of a log @returns its last telling lines, indented */
export function endOfLog(text: string): string {
  return text
    .split("\n")
    .filter((line) => !NOISE.some((noise) => noise.test(line)))
    .slice(-SHOWN)
    .map((line) => `  ${line.slice(0, LONGEST)}`)
    .join("\n");
}
