import canonicalize from "canonicalize";
import fc from "fast-check";
import t from "tap";
import { canonicalJson } from "../../../src/format/event/canonical-json.ts";
import { canonicalFault } from "@resontech/verifier/leaf/canonical";
import { checkProperty } from "@resontech/house/check-property";

const wellFormed = fc.string({ unit: "binary" }).filter((text) => text.isWellFormed());
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small", maxDepth: 4 },
    fc.constantFrom(null, true, false),
    fc.maxSafeInteger(),
    wellFormed,
    fc.array(tie("value"), { maxLength: 4 }),
    fc.dictionary(wellFormed, tie("value"), { maxKeys: 5 }),
  ),
}));

t.test(
  "agrees with an independent implementation of RFC 8785, and the verifier's scanner with both",
  async (t) => {
    t.doesNotThrow(() =>
      checkProperty(
        fc.property(value, (any) => {
          const ours = canonicalJson(any, 6);
          if (ours !== canonicalize(any)) throw new Error(`writer: ${ours}`);
          const fault = canonicalFault(ours);
          if (fault !== null) throw new Error(`verifier: ${fault} in ${ours}`);
        }),
        5_000,
      ),
    );
  },
);

t.test("the scanner takes no text that is not the canonical form of its own parse", async (t) => {
  const almost = fc
    .tuple(
      value,
      fc.nat(),
      fc.constantFrom(
        " ",
        ",",
        '"',
        "0",
        "1",
        "-",
        "e1",
        "\\u0041",
        "\n",
        "}",
        "]",
        "{",
        '"a":1,',
        "\u0001",
        "\\/",
      ),
    )
    .map(([any, at, insert]) => {
      const text = canonicalJson(any, 6);
      const place = at % (text.length + 1);
      return text.slice(0, place) + insert + text.slice(place);
    });
  t.doesNotThrow(() =>
    checkProperty(
      fc.property(almost, (text) => {
        if (!text.isWellFormed() || canonicalFault(text) !== null) return;
        if (canonicalize(JSON.parse(text)) !== text) throw new Error(text);
      }),
      20_000,
    ),
  );
});

t.test("refuses what the profile leaves out", async (t) => {
  for (const [text, what] of [
    ['{"a":1.5}', "float"],
    ['{"a":1e3}', "exponent"],
    ['{"a":-0}', "minus zero"],
    ['{"a":9007199254740992}', "integer beyond 2^53-1"],
    ['{"a":1,"a":1}', "duplicate name"],
    ['{"b":1,"a":1}', "order"],
    ['{ "a":1}', "space"],
    ['"\\u00e9"', "needless escape"],
    ['"\\ud800"', "lone surrogate"],
    ["[[[[[[[1]]]]]]]", "depth 7"],
    ["nul", "word"],
    ["1 ", "tail"],
    ["", "nothing"],
  ] as const)
    t.not(canonicalFault(text), null, what);
  t.throws(() => canonicalJson({ a: 1.5 }, 6), { code: "number" });
  t.throws(() => canonicalJson({ a: 2 ** 53 }, 6), { code: "number" });
  t.throws(() => canonicalJson({ a: "\ud800" }, 6), { code: "surrogate" });
  t.throws(() => canonicalJson({ "\udead": 1 }, 6), { code: "surrogate" });
  t.throws(() => canonicalJson([[[[[[[1]]]]]]], 6), { code: "depth" });
  t.throws(() => canonicalJson(() => 1, 6), { code: "not_json" });
});

t.test("gives the published example of RFC 8785 §3.2.3: order by UTF-16 units", async (t) => {
  const example = {
    "\u20ac": "Euro Sign",
    "\r": "Carriage Return",
    "\ufb33": "Hebrew Letter Dalet With Dagesh",
    "1": "One",
    "\ud83d\ude00": "Emoji: Grinning Face",
    "\u0080": "Control",
    "\u00f6": "Latin Small Letter O With Diaeresis",
  };
  t.same(Object.values(JSON.parse(canonicalJson(example, 6))), [
    "One",
    "Carriage Return",
    "Control",
    "Latin Small Letter O With Diaeresis",
    "Euro Sign",
    "Emoji: Grinning Face",
    "Hebrew Letter Dalet With Dagesh",
  ]);
});
