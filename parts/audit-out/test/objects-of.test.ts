/** Which entries a path finds: also the end of an operation, which repeats the commitment and opens it nowhere. */
import { randomUUID } from "node:crypto";
import t, { type Test } from "tap";
import type { EventRow } from "../src/search/row-of-leaf.ts";
import { SearchIndex } from "../src/search/search-index.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { holding, UNMARKED } from "./helper/indexed-tokens.ts";

const [PATH, FOLDER, OTHER, ADDRESS] = ["a", "b", "c", "d"].map((digit) => digit.repeat(32)) as [
  string,
  string,
  string,
  string,
];
const commitment = (digit: string): string => digit.repeat(64);
const order = "oldest";

function entry(phase: string, object: string, outcome: string | null = null): EventRow {
  const names = { type: "data.object.write", prod: "s3-front", sub: "u_1", kind: "object" };
  const row = { ...names, atMs: 0, op: randomUUID(), onBehalfOf: null, phase, object, outcome };
  return { ...row, ...UNMARKED };
}

function opened(t: Test): {
  index: SearchIndex;
  folder: string;
  find: (...tokens: string[][]) => number[];
} {
  const folder = temporaryFolder(t);
  const index = new SearchIndex(folder, (reason) => t.fail(reason));
  t.teardown(() => index[Symbol.dispose]());
  index.beginTokens("k");
  const find = (...tokens: string[][]): number[] =>
    index
      .find({ tokens, order }, index.spanOf("2026", { order })!, 100)
      .map((found) => found.index);
  return { index, folder, find };
}

function addPath(index: SearchIndex, at: number, ...tokens: string[]): void {
  const after = index.tokenPlaceOf("2026");
  const lines = tokens.map((token) => ({ index: at, field: "object.id", token }));
  index.addTokens("2026", { after, at: { index: at, field: "object.id" } }, lines);
}

t.test("the end of an operation is found by its object, whichever was indexed first", async (t) => {
  const { index, find } = opened(t);
  index.add("2026", 0, [entry("requested", commitment("1")), entry("requested", commitment("2"))]);
  addPath(index, 0, PATH, FOLDER);
  addPath(index, 1, OTHER, FOLDER);
  index.add("2026", 2, [
    entry("denied", commitment("1"), "AccessDenied"),
    entry("completed", commitment("2"), "ok"),
    entry("requested", commitment("3")),
    entry("failed", commitment("3"), "NoSuchKey"),
  ]);
  addPath(index, 4, PATH, FOLDER);
  t.same(find([PATH]), [0, 2, 4, 5]);
  t.same(find([FOLDER]), [0, 1, 2, 3, 4, 5]);
  t.same(find([PATH, OTHER]), [0, 1, 2, 3, 4, 5], "one of a list is enough");
  t.same(find([FOLDER], [OTHER]), [1, 3], "each list counts");
  t.same(find([]), [], "an empty one finds nothing");
  const refused = index.find(
    { tokens: [[FOLDER]], outcome: "AccessDenied", order },
    index.spanOf("2026", { order })!,
    10,
  );
  t.match(refused, [{ index: 2, phase: "denied", outcome: "AccessDenied" }]);
});

t.test(
  "what was erased of an object is found by none of its entries, and no byte of it is left",
  async (t) => {
    const { index, folder, find } = opened(t);
    index.add("2026", 0, [
      entry("requested", commitment("1")),
      entry("completed", commitment("1"), "ok"),
    ]);
    addPath(index, 0, PATH, FOLDER);
    t.same(find([FOLDER]), [0, 1]);
    index.dropTokens([{ slug: "2026", index: 0, field: "object.id" }]);
    t.same(find([FOLDER]), []);
    t.same(find([PATH]), []);
    await index.scrub();
    t.same([...holding(folder, PATH), ...holding(folder, FOLDER)], []);
  },
);

t.test(
  "entries from one address have one source, others another, and none is told where none is known",
  async (t) => {
    const { index } = opened(t);
    index.add(
      "2026",
      0,
      [1, 2, 3, 4].map((at) => entry("requested", commitment(String(at)))),
    );
    const token = (at: number, value: string) => ({ index: at, field: "src.addr", token: value });
    const last = { index: 2, field: "src.addr" };
    index.addTokens("2026", { after: { index: -1, field: "" }, at: last }, [
      ...[token(0, ADDRESS), token(1, ADDRESS), token(2, OTHER)],
    ]);
    addPath(index, 3, PATH);
    const sourceOf = (at: number): string | null => index.sourceOf({ slug: "2026", index: at });
    t.equal(sourceOf(0), ADDRESS.slice(0, 12));
    t.equal(sourceOf(1), sourceOf(0));
    t.not(sourceOf(2), sourceOf(0));
    t.equal(sourceOf(3), null);
  },
);

t.test("entries of one object have one handle, also the end of an operation", async (t) => {
  const { index } = opened(t);
  index.add("2026", 0, [
    entry("requested", commitment("1")),
    entry("completed", commitment("1"), "ok"),
    entry("requested", commitment("2")),
    entry("requested", commitment("3")),
    entry("requested", commitment("4")),
  ]);
  addPath(index, 0, PATH, FOLDER);
  addPath(index, 2, FOLDER, PATH);
  addPath(index, 3, OTHER, FOLDER);
  const handleOf = (at: number): string | null => index.handleOf({ slug: "2026", index: at });
  t.match(handleOf(0), /^[0-9a-f]{12}$/);
  t.equal(handleOf(1), handleOf(0));
  t.equal(handleOf(2), handleOf(0), "each entry commits to the path anew");
  t.not(handleOf(3), handleOf(0), "another object of the same folder");
  t.equal(handleOf(4), null, "an object that nobody opened");
});

t.test("a search by paths is led by the index of tokens", async (t) => {
  const { index } = opened(t);
  const plan = index.planOf({ tokens: [[PATH, FOLDER]], order: "newest" });
  t.match(plan, /SEARCH tokens USING (?:COVERING )?(?:INDEX|PRIMARY KEY)/);
  t.match(plan, /SEARCH events USING INTEGER PRIMARY KEY/);
  t.notMatch(plan, /SCAN (?:events|tokens)/);
});
