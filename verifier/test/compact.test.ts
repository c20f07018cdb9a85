/** What the judges remember in little: each of it beside its plain counterpart. */
import { randomBytes } from "node:crypto";
import t from "tap";
import { Frontier, hashLeaf } from "@resontech/audit/format/tree/merkle";
import { DigestTable } from "../src/completeness/digest-table.ts";
import { Marks } from "../src/disclosures/marks.ts";
import { Operations } from "../src/completeness/operations.ts";
import { nodePlatform } from "../src/platform/platform-node.ts";
import { Population } from "../src/sample/population.ts";
import { StatedErasures } from "../src/disclosures/stated-erasures.ts";
import type { Leaf } from "../src/leaf/leaf.ts";

const digest = (at: number) => nodePlatform.sha256(Buffer.from(String(at)));

t.test(
  "numbers by digest: the last that was added, until those of its kind are forgotten",
  async (t) => {
    const table = new DigestTable("numbers");
    for (let at = 0; at < 50_000; at++) table.add(digest(at), 1);
    for (let at = 0; at < 50_000; at += 3) table.add(digest(at), 4_294_967_295);
    t.equal(table.size, 50_000);
    table.keep((number) => number > 1);
    t.equal(table.size, 16_667);
    for (let at = 0; at < 50_000; at++)
      if (table.has(digest(at)) !== (at % 3 === 0)) t.fail(`${at}`);
    table.clear();
    t.equal(table.size, 0);
    t.notOk(table.has(digest(0)));
  },
);

t.test("the tree over what is marked has the root that any tree over it has", async (t) => {
  const marks = new Marks(nodePlatform);
  const frontier = new Frontier();
  for (let size = 1; size <= 300; size++) {
    const leaf = randomBytes(40);
    marks.add(Buffer.concat([Buffer.of(0), leaf]));
    frontier.append(hashLeaf(leaf));
    if (marks.root() !== frontier.root().toString("hex") || marks.size !== size) t.fail(`${size}`);
  }
});

t.test("a population gives back what it was given, however far apart", async (t) => {
  const population = new Population();
  const indices: number[] = [];
  let last = -1;
  for (let at = 0; at < 100_000; at++) {
    last += at % 7 === 0 ? [1, 127, 128, 129, 16_384, 70_000_000_000][at % 6]! : 1;
    population.add(last);
    indices.push(last);
  }
  population.add(Number.MAX_SAFE_INTEGER);
  t.equal(population.size, 100_001);
  const places = [
    100_000,
    99_999,
    0,
    ...Array.from({ length: 10_000 }, (_, at) => (at * 7_919) % 100_000),
  ];
  t.same(population.at(places), [
    Number.MAX_SAFE_INTEGER,
    ...places.slice(1).map((place) => indices[place]),
  ]);
});

t.test("what an erasure states is found by its entry, as far as it says it", async (t) => {
  const stated = new StatedErasures();
  const noRoot = "no root";
  const hex = (at: number) => Buffer.from(digest(at)).toString("hex");
  for (let at = 0; at < 1_000; at++) stated.add(3 * at, { count: at, root: hex(at) });
  stated.add(5_000, null);
  stated.add(5_001, { count: null, root: null });
  stated.add(5_002, { count: 1, root: noRoot });
  for (let at = 0; at < 1_000; at++)
    if (stated.of(3 * at)?.root !== hex(at) || stated.of(3 * at)?.count !== at) t.fail(`${at}`);
  for (const none of [1, 2_999, 4_999, 5_000, 9_999]) t.equal(stated.of(none), null);
  t.match(stated.of(5_001), { count: null, root: "0".repeat(64) }, "which is the root of nothing");
  t.match(stated.of(5_002), { count: 1, root: "0".repeat(64) });
  t.equal(stated.size, 1_003);
});

t.test("operations keep their own types, in places that others had", async (t) => {
  const operations = new Operations();
  const said = (op: number, type: string, phase: string): string | null =>
    operations.fault(
      { op: `op-${op}`, type, phase, t_log: "2026-03-01T08:00:00.000Z" } as Leaf,
      op,
    );
  for (let round = 0; round < 3; round++) {
    for (let op = 0; op < 2_000; op++)
      if (said(op, `job.a${op}-${round}`, "requested") !== null) t.fail(`${op}`);
    for (let op = 1; op < 2_000; op += 2)
      if (said(op, `job.a${op}-${round}`, "completed") !== null) t.fail(`${op}`);
    t.equal(said(0, "job.b", "failed"), `the outcome is job.b, the request was job.a0-${round}`);
    for (let op = 2; op < 2_000; op += 2)
      if (said(op, `job.a${op}-${round}`, "denied") !== null) t.fail(`${op}`);
  }
  t.equal(operations.closed, 6_000);
  t.match(said(0, "job.a", "completed"), /without a request/);
  said(7, "job.submit", "requested");
  said(3, "job.submit", "requested");
  t.match(operations.atEnd(Date.parse("2027-03-01T08:00:00.000Z")), {
    open: 0,
    overdue: 2,
    firstOverdue: { type: "job.submit", index: 3 },
  });
});
