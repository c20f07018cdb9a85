import fc from "fast-check";
import t from "tap";
import { tailPieces } from "../../src/decisions/tail-pieces.ts";

t.test("pieces of any bytes follow one another, and are short enough for a message", async (t) => {
  fc.assert(
    fc.property(
      fc.uint8Array({ maxLength: 400 }),
      fc.integer({ min: 1, max: 400 }),
      (bytes, times) => {
        const log = Buffer.concat(Array.from({ length: times }, () => bytes));
        const pieces = tailPieces(log);
        let end = 0;
        for (const piece of pieces) {
          if (
            piece.offset !== end ||
            piece.bytes < 1 ||
            piece.bytes > 65_536 ||
            piece.text.length > 65_536
          )
            return false;
          end = piece.offset + piece.bytes;
        }
        return log.length - end <= 3;
      },
    ),
    { numRuns: 500 },
  );
  t.pass();
});

t.test("text is cut between characters alone", async (t) => {
  fc.assert(
    fc.property(
      fc.string({ unit: "binary", minLength: 1 }),
      fc.integer({ min: 1, max: 2_000 }),
      (unit, times) => {
        const text = Buffer.from(unit.repeat(times)).toString();
        const pieces = tailPieces(Buffer.from(text));
        return pieces.map((piece) => piece.text).join("") === text;
      },
    ),
    { numRuns: 300 },
  );
  t.pass();
});

t.test(
  "a character that is not whole yet waits; one that never will be is shown as such",
  async (t) => {
    const euro = Buffer.from("€");
    t.same(tailPieces(euro.subarray(0, 2)), []);
    t.same(tailPieces(Buffer.concat([Buffer.from("a"), euro.subarray(0, 2)])), [
      { offset: 0, bytes: 1, text: "a" },
    ]);
    t.match(tailPieces(Buffer.concat([euro.subarray(0, 2), Buffer.from("b")])), [
      { bytes: 3, text: "\ufffdb" },
    ]);
    t.match(
      tailPieces(Buffer.from([0x80, 0x80, 0x80, 0x80])),
      [{ bytes: 4 }],
      "continuations without a beginning",
    );
  },
);
