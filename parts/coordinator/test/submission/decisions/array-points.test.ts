import type { ArrayBody } from "@resontech/contracts/http-arrays";
import t from "tap";
import { arrayPoints, taskAtPoint } from "../../../src/submission/decisions/array-points.ts";

const task = { kind: "command", name: "fit", scriptPath: "/jobs/fit/scripts/fit.py" } as const;
const points = (asked: Omit<ArrayBody, "task">) => arrayPoints({ task, ...asked });
const COMMAND = {
  ...{ name: "fit", slug: "fit", outputRoot: "jobs/fit" },
  spec: { script: "fit.py", arguments: ["--epochs=3"], environment: { SEED: "1" } },
};

t.test("indexes are taken with both ends, and with a step", async (t) => {
  t.same(
    points({ indexes: { from: 3, to: 9, step: 3 } }).map(({ point }) => point),
    [3, 6, 9],
  );
  t.same(
    points({ indexes: { from: 3, to: 8, step: 3 } }).map(({ point }) => point),
    [3, 6],
  );
  t.same(points({ indexes: { from: 5, to: 5 } }), [{ point: 5, parameters: {} }]);
});

t.test("a grid has each combination once, the last parameter changing first", async (t) => {
  const grid = [
    { name: "lr", values: ["0.1", "0.01"] },
    { name: "depth", values: ["2", "4", "8"] },
  ];
  const found = points({ grid });
  t.same(
    found.map(({ parameters }) => `${parameters["lr"]} ${parameters["depth"]}`),
    ["0.1 2", "0.1 4", "0.1 8", "0.01 2", "0.01 4", "0.01 8"],
  );
  t.same(
    found.map(({ point }) => point),
    [0, 1, 2, 3, 4, 5],
  );
});

t.test("what is no array is refused, and said", async (t) => {
  const refused = (asked: Omit<ArrayBody, "task">, message: RegExp) =>
    t.throws(() => points(asked), { code: "validation_failed", message }, String(message));
  refused({}, /one of indexes and grid/);
  refused(
    { indexes: { from: 0, to: 1 }, grid: [{ name: "lr", values: ["1"] }] },
    /one of indexes and grid/,
  );
  refused({ indexes: { from: 2, to: 1 } }, /1 before 2/);
  refused({ indexes: { from: 0, to: 1_000 } }, /1001 jobs, at most 1000/);
  refused({ grid: [{ name: "lr", values: ["1", "2", "1"] }] }, /lr has the value 1 twice/);
  const twice = { name: "lr", values: ["1"] };
  refused({ grid: [twice, twice] }, /names the parameter lr twice/);
  const many = Array.from({ length: 40 }, (_, at) => String(at));
  refused(
    {
      grid: [
        { name: "a", values: many },
        { name: "b", values: many },
      ],
    },
    /1600 jobs/,
  );
});

t.test("a job of an array has a name and a folder of its own, and knows its point", async (t) => {
  const place = { point: 7, parameters: { lr: "0.1", depth: "2" } };
  t.same(taskAtPoint(COMMAND, place, 12), {
    ...{ name: "fit 7", slug: "fit-7", outputRoot: "jobs/fit-7" },
    spec: {
      script: "fit.py",
      arguments: ["--epochs=3", "--lr=0.1", "--depth=2"],
      environment: { SEED: "1", RESONTECH_ARRAY_INDEX: "7", RESONTECH_ARRAY_COUNT: "12" },
    },
  });
});

t.test(
  "a kind without a script, and a script that is told another place, are refused",
  async (t) => {
    const place = { point: 0, parameters: {} };
    t.throws(() => taskAtPoint({ ...COMMAND, spec: null }, place, 1), {
      message: /a kind that runs no script/,
    });
    const environment = { RESONTECH_ARRAY_INDEX: "3" };
    const spec = { ...COMMAND.spec, environment };
    t.throws(() => taskAtPoint({ ...COMMAND, spec }, place, 1), {
      message: /sets RESONTECH_ARRAY_INDEX/,
    });
    const words = { ...COMMAND.spec, arguments: Array.from({ length: 64 }, () => "x") };
    t.throws(
      () => taskAtPoint({ ...COMMAND, spec: words }, { point: 0, parameters: { lr: "1" } }, 1),
      { message: /more than 64/ },
    );
  },
);
