import t from "tap";
import { decodeBech32, encodeBech32 } from "../../src/age/bech32.ts";

t.test("the test vectors of BIP 173 are decoded, and what breaks one rule is not", async (t) => {
  t.same(decodeBech32("a", "A12UEL5L"), Buffer.alloc(0));
  t.same(decodeBech32("a", "a12uel5l"), Buffer.alloc(0));
  for (const wrong of ["A12UEL5M", "a12UEL5L", "b12uel5l", "a12uel5", "a1bioel5l", "a1"])
    t.equal(decodeBech32("a", wrong), null, wrong);
});

t.test("any bytes come back, and every single letter that is wrong is found", async (t) => {
  for (let length = 0; length < 40; length += 1) {
    const bytes = Buffer.from(Array.from({ length }, (_, at) => (at * 73 + length) & 255));
    t.same(decodeBech32("age", encodeBech32("age", bytes)), bytes);
  }
  const text = encodeBech32("rtbackup", Buffer.alloc(32, 7));
  for (let at = "rtbackup1".length; at < text.length; at += 1) {
    const other = text[at] === "q" ? "p" : "q";
    t.equal(decodeBech32("rtbackup", text.slice(0, at) + other + text.slice(at + 1)), null);
  }
});
