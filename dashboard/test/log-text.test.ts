import fc from "fast-check";
import t from "tap";
import { LogText } from "../src/pages/job/logs/log-text.ts";

const bytesOf = (text: string) => Buffer.byteLength(text);

t.test("the stored end and what came live are joined without a loss or a double", async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: "grapheme", maxLength: 12 }), { maxLength: 20 }),
      fc.nat(20),
      fc.nat(20),
      (texts, storedPieces, overlap) => {
        const pieces = texts.map((text) => `${text}\n`);
        const kept = Math.min(storedPieces, pieces.length);
        const from = Math.max(0, kept - overlap);
        const log = new LogText();
        let offset = bytesOf(pieces.slice(0, from).join(""));
        // Half of the live ones come before the stored end was read.
        const live = pieces.slice(from).map((text) => {
          const piece = { offset, bytes: bytesOf(text), text };
          offset += piece.bytes;
          return piece;
        });
        const half = Math.floor(live.length / 2);
        for (const piece of live.slice(0, half)) log.live(piece);
        const stored = pieces.slice(0, kept).join("");
        log.stored(0, bytesOf(stored), stored);
        for (const piece of live.slice(half)) log.live(piece);
        return log.lines.join("\n") === pieces.join("");
      },
    ),
  );
  t.pass();
});

t.test("bytes that were not shown live are named", async (t) => {
  const log = new LogText();
  log.stored(0, 4, "one\n");
  log.live({ offset: 4, bytes: 100, text: null });
  log.live({ offset: 104, bytes: 4, text: "two\n" });
  t.match(log.lines.join("\n"), /^one\n\n\[100 bytes are not shown live.*\]\ntwo\n$/);
});
