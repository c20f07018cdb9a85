import fc from "fast-check";
import t from "tap";
import { canonicalJson } from "@resontech/audit/format/event/canonical-json";
import { canonicalFault, readCanonical } from "../../src/leaf/canonical.ts";
import { checkProperty } from "@resontech/house/check-property";

/** What a quick look may take for something else. */
const NAMES = [
  "",
  "1",
  "10",
  "9",
  "01",
  "-1",
  "4294967294",
  "4294967295",
  "__proto__",
  "constructor",
  "toJSON",
  "a",
  "é",
  "\u2028",
];
const SCALARS = [
  "0",
  "-0",
  "-1",
  "1e2",
  "1E2",
  "100.0",
  "1.5",
  "9007199254740991",
  "9007199254740992",
  "-9007199254740993",
];
const STRINGS = [
  "\\u0041",
  "\\ud800",
  "\\udfff",
  "\\ud83d\\ude00",
  "😀",
  "\\/",
  "\\u001F",
  "\\u001f",
  "\\u000a",
  "\\n",
  "\\\\ud800",
];

const scalar = fc.constantFrom(
  ...SCALARS,
  ...STRINGS.map((text) => `"${text}"`),
  "true",
  "null",
  "1e400",
  "nul",
);
const name = fc.oneof(
  fc.constantFrom(...NAMES),
  fc.constantFrom(...STRINGS),
  fc.string({ maxLength: 2 }),
);
/** Texts of JSON, most of them not canonical: names in any order and more than once. */
const { text } = fc.letrec<{ text: string }>((tie) => ({
  text: fc.oneof(
    { depthSize: "medium", maxDepth: 8 },
    scalar,
    fc.array(tie("text"), { maxLength: 3 }).map((parts) => `[${parts.join(",")}]`),
    fc
      .tuple(fc.array(fc.tuple(name, tie("text")), { maxLength: 4 }), fc.boolean())
      .map(([members, isSorted]) =>
        isSorted ? members.sort(([a], [b]) => (a < b ? -1 : 1)) : members,
      )
      .map((members) => `{${members.map(([one, value]) => `"${one}":${value}`).join(",")}}`),
  ),
}));
const changed = fc
  .tuple(
    fc.jsonValue({ maxDepth: 5 }),
    fc.nat(),
    fc.constantFrom("", " ", ",", '"', "0", "-", "e1", "\\", "}", "{", "\ufeff"),
  )
  .map(([value, at, insert]) => {
    const whole = canonicalOf(value);
    const place = at % (whole.length + 1);
    return whole.slice(0, place) + insert + whole.slice(place);
  });

function canonicalOf(value: unknown): string {
  try {
    return canonicalJson(value, 6);
  } catch {
    return JSON.stringify(value);
  }
}

function disagreement(one: string): string | null {
  const expected = canonicalFault(one);
  const read = readCanonical(one);
  if ("fault" in read)
    return read.fault === expected ? null : `${one}: ${read.fault}, by the scanner ${expected}`;
  return expected === null && JSON.stringify(read.value) === JSON.stringify(JSON.parse(one))
    ? null
    : `${one}: ${expected}`;
}

t.test(
  "takes exactly the texts that the scanner takes, with its words for the others",
  async (t) => {
    for (const texts of [text, changed, fc.json()])
      t.doesNotThrow(() =>
        checkProperty(
          fc.property(
            texts.filter((one) => one.isWellFormed()),
            (one) => {
              const found = disagreement(one);
              if (found !== null) throw new Error(found);
            },
          ),
          20_000,
        ),
      );
  },
);

t.test("reads names in order that the runtime lists in another", async (t) => {
  for (const one of [
    '{"10":1,"9":2}',
    '{"":0,"1":1,"__proto__":{"a":1},"a":[]}',
    '{"-":0,"1":1}',
    '["\\n","\u2028","\u007f"]',
  ])
    t.strictSame(
      [canonicalFault(one), JSON.stringify(readCanonical(one))],
      [null, JSON.stringify({ value: JSON.parse(one) })],
    );
});

t.test("refuses what the runtime gives back as it was, and the profile leaves out", async (t) => {
  for (const one of [
    '{"9":1,"10":2}',
    '"\\ud800"',
    '{"\\udfff":1}',
    "1.5",
    "9007199254740992",
    "[[[[[[[]]]]]]]",
    '{"b":1,"a":1}',
  ])
    t.match(readCanonical(one), { fault: String }, one);
});

t.test("a text that nests without end is refused", async (t) => {
  for (const part of ["[", '{"a":'])
    t.match(readCanonical(part.repeat(8_000)), { fault: /deeper than 6/ }, part);
});
