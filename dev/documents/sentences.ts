/** How long the sentences of a document are. Pure. */
import { type Located, readMarkdown } from "./markdown.ts";

export type Sentence = Located<{ text: string; words: number }>;
export type Lengths = { sentences: number; mean: number; longest: number; above25: number };

/** STYLE-GUIDE.md "Prose". */
export const MAX_WORDS = 25;
/** A full stop, question or exclamation mark with what closes behind it, before a blank. Names of processes begin sentences in lower case. */
const END = /(?<=[.!?]["”)*_]{0,3})(?<!\b(?:e\.g|i\.e|cf|vs)\.)\s+/u;

export function sentencesOf(markdown: string): Sentence[] {
  return readMarkdown(markdown).prose.flatMap(({ line, text }) =>
    text
      .split(END)
      .map((sentence) => ({ line, text: sentence, words: countWords(sentence) }))
      .filter(({ words }) => words > 0),
  );
}

export function lengthsOf(sentences: readonly Sentence[]): Lengths {
  const words = sentences.map((sentence) => sentence.words);
  const sum = words.reduce((all, one) => all + one, 0);
  return {
    sentences: words.length,
    mean: words.length === 0 ? 0 : Math.round((sum / words.length) * 10) / 10,
    longest: Math.max(0, ...words),
    above25: words.filter((count) => count > MAX_WORDS).length,
  };
}

function countWords(sentence: string): number {
  return sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
}
