import t from "tap";
import { type ApplianceState, changesBetween } from "../audit/operations/appliance-state.ts";

const state = (
  objects: Record<string, string>,
  moving: readonly string[] = [],
): ApplianceState => ({
  rows: [],
  containers: [],
  objects: Object.entries(objects).map(([path, line]) => ({ path, line })),
  isMovingObject: (path) => moving.includes(path),
});

t.test("an object that came, went or is another one is told", (t) => {
  const changes = changesBetween(
    state({ a: "1 1 folder", b: "2 2 folder" }),
    state({ b: "2 3 folder", c: "4 4 folder" }),
  );
  t.strictSame(changes, [
    "- objects: a 1 1 folder",
    "- objects: b 2 2 folder",
    "+ objects: b 2 3 folder",
    "+ objects: c 4 4 folder",
  ]);
  t.end();
});

t.test("what is known to move by itself only once it moved is left out of both states", (t) => {
  const before = state({ "jobs/own": "1 1 folder", "jobs/other": "2 2 folder" });
  const after = state({ "jobs/own": "1 9 folder", "jobs/other": "2 9 folder" }, ["jobs/own"]);
  t.strictSame(changesBetween(before, after), [
    "- objects: jobs/other 2 2 folder",
    "+ objects: jobs/other 2 9 folder",
  ]);
  t.end();
});
