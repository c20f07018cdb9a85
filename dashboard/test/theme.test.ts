/** Colours of theme.css are told apart by people with weak eyes: WCAG 2.2 AA, in both themes. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";

const CSS = readFileSync(join(import.meta.dirname, "..", "src", "theme.css"), "utf8");
const COLOURS = new Map(
  [...CSS.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);/g)].map(
    ([, name = "", light = "", dark = ""]) => [name, [light, dark] as const],
  ),
);
const GROUNDS = ["ground", "raised", "sunken", "hover"];
const TONES = ["good", "busy", "wait", "bad"];

function brightness(colour: string): number {
  const [red, green, blue] = [1, 3, 5]
    .map((at) => Number.parseInt(colour.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)) as [
    number,
    number,
    number,
  ];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string, theme: 0 | 1): number {
  const [low, high] = [one, other]
    .map((name) => brightness(COLOURS.get(name)?.[theme] ?? ""))
    .toSorted((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

/** Pairs with less than so much contrast, in either theme. */
function weak(pairs: readonly (readonly [string, string])[], least: number): string[] {
  return pairs.flatMap(([one, other]) =>
    ([0, 1] as const)
      .filter((theme) => !(contrast(one, other, theme) >= least))
      .map(
        (theme) =>
          `${one} on ${other}, ${theme === 0 ? "light" : "dark"}: ${contrast(one, other, theme).toFixed(2)}`,
      ),
  );
}

t.test("words are read on every ground that they stand on", async (t) => {
  t.ok(COLOURS.size >= 25, "the style sheet is understood");
  const words = ["text", "quiet", "accent", ...TONES];
  t.same(
    weak(
      words.flatMap((word) => GROUNDS.map((ground) => [word, ground] as const)),
      4.5,
    ),
    [],
  );
  const tinted = [...TONES, "text"].flatMap((word) =>
    TONES.filter((tone) => word === "text" || tone === word).map(
      (tone) => [word, `${tone}-ground`] as const,
    ),
  );
  t.same(weak([...tinted, ["quiet", "quiet-ground"], ["quiet", "bad-ground"]], 4.5), []);
  t.same(
    weak(
      [
        ["on-accent", "accent"],
        ["accent", "busy-ground"],
      ],
      4.5,
    ),
    [],
  );
});

t.test("frames of fields and curves stand out from what is behind them", async (t) => {
  const drawn = ["line-strong", ...Array.from({ length: 6 }, (_, at) => `series-${at + 1}`)];
  t.same(
    weak(
      drawn.flatMap(
        (one) =>
          [
            [one, "raised"],
            [one, "ground"],
          ] as const,
      ),
      3,
    ),
    [],
  );
});
