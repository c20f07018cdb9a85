import t from "tap";
import { findOutcomes } from "../src/commit/find-outcomes.ts";

const leaf = (op: string, phase: string, prod = "vault") =>
  Buffer.from(
    JSON.stringify({ detail: { n: 1 }, op, phase, prod, t_log: "2026-11-25T00:00:00.000Z" }),
  );
const shard = (origin: string, leaves: readonly Buffer[]) => ({
  origin,
  nextIndex: leaves.length,
  readLeaf: async (index: number) => ({ leaf: leaves[index]!, leafHash: Buffer.alloc(32, index) }),
});
const shards = [
  shard("a/2025", [leaf("one", "requested"), leaf("two", "requested"), leaf("one", "completed")]),
  shard("a/2026", [
    leaf("one", "fact"),
    leaf("one", "fact", "gate"),
    leaf("three", "failed"),
    leaf("two", "failed"),
  ]),
];
const search = async (
  ops: string[],
  after?: { origin: string; index: number },
  isOver = () => false,
) =>
  (
    await findOutcomes(
      shards,
      { ops: new Set(ops), after, isOf: (prod) => prod === "vault" },
      isOver,
    )
  )?.map(({ op, phase, origin, index }) => `${op} ${phase} ${origin} ${index}`);

t.test(
  "what the log says of operations is found behind an entry, over the turn of a shard, and of the family alone",
  async (t) => {
    t.same(await search(["one"]), [
      "one requested a/2025 0",
      "one completed a/2025 2",
      "one fact a/2026 0",
    ]);
    t.same(await search(["one", "two"], { origin: "a/2025", index: 1 }), [
      ...["one completed a/2025 2", "one fact a/2026 0"],
      "two failed a/2026 3",
    ]);
    t.same(await search(["one", "two"], { origin: "a/2026", index: 0 }), ["two failed a/2026 3"]);
    t.same(await search(["two"], { origin: "a/2019", index: 7 }), [
      "two requested a/2025 1",
      "two failed a/2026 3",
    ]);
    t.same(await search(["four"]), []);
    t.equal(await search(["one"], undefined, () => true), undefined);
  },
);
