import fc from "fast-check";
import t from "tap";
import {
  type FoundLine,
  type LineQuery,
  LineSearch,
} from "../../../src/outputs/decisions/line-search.ts";

const query: LineQuery = {
  ...{ text: "loss", isCaseSensitive: false, skip: 0, limit: 100, context: 1 },
};

function searched(logs: Record<string, string | Buffer>, asked: LineQuery, blockBytes: number) {
  const search = new LineSearch(asked);
  for (const [log, text] of Object.entries(logs)) {
    search.begin(log);
    const bytes = Buffer.from(text as string);
    for (let at = 0; at < bytes.length; at += blockBytes)
      search.take(bytes.subarray(at, at + blockBytes));
  }
  search.end();
  return search;
}

/** The same by looking at each line. */
function straight(logs: Record<string, string>, asked: LineQuery): FoundLine[] {
  const has = (line: string) =>
    asked.isCaseSensitive
      ? line.includes(asked.text)
      : line.toLowerCase().includes(asked.text.toLowerCase());
  const all = Object.entries(logs).flatMap(([log, text]) => {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    let offset = 0;
    return lines.flatMap((line, at) => {
      const from = offset;
      offset += Buffer.byteLength(line) + 1;
      if (!has(line)) return [];
      const before = lines.slice(Math.max(0, at - asked.context), at);
      return [
        { log, offset: from, line, before, after: lines.slice(at + 1, at + 1 + asked.context) },
      ];
    });
  });
  return all
    .map((one, at) => ({ number: at + 1, ...one }))
    .slice(asked.skip, asked.skip + asked.limit);
}

const piece = fc.constantFrom("a", "A", "\n", "b", "é", "É", "🙂", "aB", " ");

t.test("finds what a look at each line finds, however the log is cut into blocks", async (t) => {
  fc.assert(
    fc.property(
      fc.array(fc.array(piece, { maxLength: 40 }), { minLength: 1, maxLength: 3 }),
      fc.constantFrom("a", "ab", "B", "é", "🙂", "a b"),
      fc.record({
        isCaseSensitive: fc.boolean(),
        skip: fc.nat(3),
        limit: fc.integer({ min: 1, max: 5 }),
        context: fc.nat(3),
      }),
      fc.integer({ min: 1, max: 30 }),
      (texts, text, window, blockBytes) => {
        const logs = Object.fromEntries(texts.map((pieces, at) => [`m-${at}`, pieces.join("")]));
        const asked = { text, ...window };
        const { found, total } = searched(logs, asked, blockBytes);
        t.same(found, straight(logs, asked));
        t.equal(total, straight(logs, { ...asked, skip: 0, limit: 1e9 }).length);
      },
    ),
    { numRuns: 500 },
  );
});

t.test("a match in a long line is shown with what is around it", async (t) => {
  const { found, total } = searched(
    { m: `${"x".repeat(5_000)}LOSS${"y".repeat(5_000)}` },
    query,
    1_000,
  );
  t.equal(total, 1);
  t.match(found[0]?.line, /^\[…\] x+LOSSy+ \[…\]$/);
  t.ok(found[0]!.line.length < 1_100);
});

t.test("a line without an end is searched in parts, and its bytes are not kept", async (t) => {
  const { total, found } = searched({ m: Buffer.alloc(5_000_000, "loss ") }, query, 1_000_000);
  t.ok(total >= 2 && total <= 5, `${total} parts`);
  t.same(
    found.map(({ log }) => log),
    Array(total).fill("m"),
  );
});

t.test("bytes that are no UTF-8 do no harm", async (t) => {
  const { found } = searched(
    { m: Buffer.from([0xff, 0x0a, 0x6c, 0x6f, 0x73, 0x73, 0xc3]) },
    query,
    3,
  );
  t.match(found, [{ line: "loss\ufffd", before: ["\ufffd"], offset: 2 }]);
});
