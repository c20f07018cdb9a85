/** Changes of a text that is made of lines: notes, policies, proofs, known checkpoints, disclosures, announced times. */
import { changeBytes, changeNumber } from "./change-bytes.ts";
import type { Dice } from "./dice.ts";

const MAX_REPEATS = 300;
const MAX_REPEATED = 200_000;
const LONG = 30_000;
const FEED = Buffer.from("\n");

/** @param others texts from which lines are taken */
export function changeLines(text: Buffer, dice: Dice, others: readonly Buffer[]): Buffer {
  const lines = linesOf(text);
  dice.weighted(CHANGES)(lines, dice, others);
  return Buffer.concat(lines.flatMap((line, at) => (at === 0 ? [line] : [FEED, line])));
}

type Change = (lines: Buffer[], dice: Dice, others: readonly Buffer[]) => void;

const CHANGES: readonly (readonly [number, Change])[] = [
  [2, (lines, dice) => void lines.splice(dice.below(lines.length), 1 + dice.size(3))],
  [
    2,
    (lines, dice) => {
      const at = dice.below(lines.length);
      const copies = Math.min(
        1 + dice.size(MAX_REPEATS),
        Math.ceil(MAX_REPEATED / (1 + lines[at]!.length)),
      );
      lines.splice(at, 0, ...Array.from({ length: copies }, () => lines[at]!));
    },
  ],
  [
    2,
    (lines, dice) => {
      const [a, b] = [dice.below(lines.length), dice.below(lines.length)];
      [lines[a], lines[b]] = [lines[b]!, lines[a]!];
    },
  ],
  [5, (lines, dice) => inOne(lines, dice, changeNumber)],
  [
    6,
    (lines, dice, others) =>
      inOne(lines, dice, (line) => changeBytes(line, dice, others.slice(0, 1))),
  ],
  [
    3,
    (lines, dice, others) =>
      void lines.splice(dice.below(lines.length + 1), 0, dice.pick(linesOf(dice.pick(others)))),
  ],
  [1, (lines, dice) => void lines.splice(dice.below(lines.length + 1), 0, Buffer.alloc(0))],
  [
    1,
    (lines, dice) =>
      inOne(lines, dice, (line) => Buffer.concat([line, Buffer.alloc(dice.size(LONG), "A")])),
  ],
  [1, (lines, dice) => inOne(lines, dice, (line) => Buffer.concat([line, Buffer.from("\r")]))],
  [
    1,
    (lines, dice) => {
      const at = dice.below(lines.length);
      lines.splice(at, 2, Buffer.concat(lines.slice(at, at + 2)));
    },
  ],
  [
    1,
    (lines, dice) =>
      inOne(lines, dice, (line) =>
        Buffer.concat([Buffer.from(dice.pick(["# ", "— ", " ", "\ufeff"])), line]),
      ),
  ],
];

function inOne(lines: Buffer[], dice: Dice, change: (line: Buffer, dice: Dice) => Buffer): void {
  const at = dice.below(lines.length);
  lines[at] = change(lines[at] ?? Buffer.alloc(0), dice);
}

export function linesOf(text: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let from = 0; ; ) {
    const end = text.indexOf(0x0a, from);
    if (end === -1) return [...lines, text.subarray(from)];
    lines.push(text.subarray(from, end));
    from = end + 1;
  }
}
