import type { ArrayReply } from "@resontech/contracts/http-arrays";
import t from "tap";
import { pointTable } from "../src/arrays/point-table.ts";
import { readArray, withParameter } from "../src/submit/read-points.ts";

t.test("indexes are written as Slurm has them", async (t) => {
  t.same(readArray("0-99"), { indexes: { from: 0, to: 99 } });
  t.same(readArray("7"), { indexes: { from: 7, to: 7 } });
  t.same(readArray("0-98:2%8"), { indexes: { from: 0, to: 98, step: 2 }, atOnce: 8 });
  t.same(readArray("%8"), { atOnce: 8 });
  for (const said of ["", "a", "1-", "-3", "0-9:", "0-9%", "0-9,12", "0.5-2", "12345678"])
    t.throws(() => readArray(said), { code: "array_unreadable" }, JSON.stringify(said));
});

t.test("a parameter has a name and values, which may hold an equals sign", async (t) => {
  const first = withParameter("lr=0.1,0.01", []);
  t.same(withParameter("mode=a=b", first), [
    { name: "lr", values: ["0.1", "0.01"] },
    { name: "mode", values: ["a=b"] },
  ]);
  for (const said of ["lr", "lr=", "=1", "2lr=1", "--lr=1"])
    t.throws(() => withParameter(said, []), { code: "grid_unreadable" }, said);
});

t.test("a metric orders the jobs, those without it last", async (t) => {
  const job = (id: string) => ({
    ...{ id, name: id, state: "SUCCEEDED" as const, reason: null, outputPath: "/jobs/x" },
    ...{ startedAt: null, endedAt: null },
  });
  const points: ArrayReply["points"] = [
    { index: 0, parameters: { lr: "1" }, job: job("a"), metrics: { loss: 0.123456 } },
    { index: 1, parameters: { lr: "2" }, job: null, metrics: {} },
    { index: 2, parameters: { lr: "3" }, job: job("c"), metrics: { loss: 0.01, acc: 1 } },
  ];
  t.same(pointTable({ points }, "loss"), {
    head: ["POINT", "lr", "STATE", "loss", "acc", "JOB"],
    rows: [
      ["2", "3", "finished", "0.01", "1", "c"],
      ["0", "1", "finished", "0.1235", "-", "a"],
      ["1", "2", "deleted", "-", "-", "-"],
    ],
  });
});
