import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { PROOFS } from "../catalogue.ts";
import { planAll } from "../plan-all.ts";
import { figureAt } from "../proofs-document.ts";
import { RecordsFolder } from "../records-folder.ts";

const repository = join(import.meta.dirname, "..", "..");
const records = new RecordsFolder(repository);
const read = (file: string): string => readFileSync(join(repository, file), "utf8");

t.test("every proof is in the catalogue, and every entry has its file", async (t) => {
  const files = globSync("*/*.ts", { cwd: join(repository, "proofs"), exclude: ["test"] });
  t.same(
    Object.entries(PROOFS)
      .map(([name, { folder }]) => `${folder}/${name}.ts`)
      .sort(),
    files.sort(),
  );
});

t.test("every figure that the document shows is in the record of the last run", async (t) => {
  for (const [name, { figures }] of records.read())
    for (const [path] of PROOFS[name]?.figures ?? [["", ""]])
      t.not(figureAt(figures, path), "?", `${name} ${path}`);
});

t.test(
  "docs/proofs.md is what the records and lists make of it: `npm run prove -- document`",
  async (t) => {
    t.equal(read("docs/proofs.md"), records.render());
  },
);

t.test("every test that the document names is there by that name", async (t) => {
  for (const { test, name } of [...records.shownByTests, ...records.faultsFound])
    t.match(read(test), name, `${test}: ${name}`);
});

t.test("as many proofs run as fit into the time, the oldest first", async (t) => {
  const all = Object.values(PROOFS).reduce((sum, { minutes }) => sum + minutes, 0);
  t.same(planAll(all, new Map()).left, []);
  const { run, left } = planAll(30, new Map());
  t.ok(run.reduce((sum, name) => sum + PROOFS[name]!.minutes, 0) <= 30);
  t.equal(run.length + left.length, Object.keys(PROOFS).length);
  const record = {
    proof: "bundle-size",
    ok: true,
    date: "2026-01-01",
    commit: "0000000",
    args: [],
    figures: {},
  };
  t.equal(planAll(all, new Map([["bundle-size", record]])).run.at(-1), "bundle-size");
});

t.test("a figure is a number, a list's length or a word", async (t) => {
  const figures = { a: { b: 1234.5, list: [1, 2], word: "FINISHED" } };
  t.same(
    ["a.b", "a.list", "a.word", "a.c"].map((path) => figureAt(figures, path)),
    ["1,234.5", "2", "FINISHED", "?"],
  );
});
