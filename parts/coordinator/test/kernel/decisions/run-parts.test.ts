import t from "tap";
import { RunParts } from "../../../src/kernel/decisions/run-parts.ts";

const runs = (project: string, count: number, part: number) =>
  Array.from({ length: count }, () => ({ project, part }));
const DRAWS = [0.05, 0.25, 0.5, 0.75, 0.94];
const ends = (parts: RunParts, project: string, ran = 0) =>
  DRAWS.map((draw) => parts.endOf(project, draw, ran));

t.test("what was stated is true until some have ended", async (t) => {
  t.same(ends(new RunParts([]), "p"), [1, 1, 1, 1, 1]);
  t.same(ends(new RunParts(runs("p", 4, 0.1)), "p"), [1, 1, 1, 1, 1], "four say nothing");
});

t.test(
  "a project's own runs say more than the site's, and one without any has the site's",
  async (t) => {
    const parts = new RunParts([...runs("p", 30, 0.5), ...runs("q", 30, 0.9)]);
    t.same(ends(parts, "p"), [0.5, 0.5, 0.5, 0.5, 0.9]);
    t.same(ends(parts, "q"), [0.5, 0.9, 0.9, 0.9, 0.9]);
    t.same(ends(parts, "new"), [0.5, 0.5, 0.9, 0.9, 1]);
  },
);

t.test("only those count that ran longer than it did already", async (t) => {
  const parts = new RunParts([...runs("p", 15, 0.2), ...runs("p", 15, 0.6)]);
  t.same(ends(parts, "p", 0.2), [0.6, 0.6, 0.6, 0.6, 0.6]);
  t.same(ends(parts, "p", 0.6), [1, 1, 1, 1, 1]);
  t.same(ends(parts, "p", 2), [1, 1, 1, 1, 1], "past what it states nobody knows more");
});

t.test("what a project did long ago is forgotten", async (t) => {
  const parts = new RunParts([...runs("p", 100, 0.9), ...runs("p", 100, 0.1)]);
  t.same(ends(parts, "p"), [0.9, 0.9, 0.9, 0.9, 0.9]);
});
