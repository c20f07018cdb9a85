import fc from "fast-check";
import t from "tap";
import { fixedForm, hasForm } from "../../src/leaf/fixed-form.ts";

const UUID = "^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$";
const TIME = "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$";

const isAscii = (text: string): boolean => Buffer.byteLength(text) === text.length;

t.test("takes of each length exactly what the regular expression takes", async (t) => {
  for (const pattern of [UUID, TIME, "^[0-9a-f]{64}$", "^[A-Z.-]\\+$", "^[^a]{2}$"]) {
    const form = fixedForm(pattern)!;
    const whole = new RegExp(pattern, "u");
    const { length } = form;
    const right = fc.stringMatching(whole).filter(isAscii);
    const changed = fc.tuple(right, fc.nat(length - 1), fc.nat(255)).map(([text, at, byte]) => {
      const bytes = Buffer.from(text, "latin1");
      bytes[at] = byte;
      return bytes.toString("latin1");
    });
    t.doesNotThrow(() =>
      fc.assert(
        fc.property(fc.oneof(right, changed), (text) => {
          // Above ASCII a byte is no character of its own.
          const isTaken = whole.test(text) && isAscii(text);
          return hasForm(Buffer.from(`"${text}`, "latin1"), 1, form) === isTaken;
        }),
        { numRuns: 2_000 },
      ),
    );
  }
});

t.test("nothing has a form where the bytes end before it does", async (t) => {
  const form = fixedForm("^[a-f]{3}$")!;
  t.equal(hasForm(Buffer.from("abc"), 0, form), true);
  t.equal(hasForm(Buffer.from("abc"), 1, form), false);
  t.equal(hasForm(Buffer.from("abc"), 9, form), false);
});

t.test("a pattern of no one length, or of another kind, has no such form", async (t) => {
  for (const pattern of [
    "^[a-z]{0,63}$",
    "^a+$",
    "^a?$",
    "^(a|b)$",
    "^a|b$",
    "^.$",
    "[a-z]",
    "^[a-z]",
    "a$",
    "^a{2,}$",
    "^a\\$",
  ])
    t.equal(fixedForm(pattern), null, pattern);
});
