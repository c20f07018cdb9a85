import t from "tap";
import { groupFiles, type Grouped } from "../tests/group-files.ts";

const at = (room: string, ...names: string[]): string[] =>
  names.map((name) => `parts/${room}/test/${name}.engines.test.ts`);
const grouped = (files: readonly string[], costs: Record<string, [number, number]> = {}) =>
  groupFiles({
    ...{ tier: "engines", files, leasing: new Set(), sharing: new Set(["parts/door"]) },
    recorded: new Map(
      Object.entries(costs).map(([file, [cpuSeconds, wallSeconds]]) => [
        file,
        { cpuSeconds, wallSeconds },
      ]),
    ),
  } satisfies Grouped);

t.test("unit files of a room share a process, whatever they cost", async (t) => {
  const files = ["cli/test/a.test.ts", "audit/test/b.test.ts", "cli/test/c.test.ts"];
  t.same(
    groupFiles({
      ...{ tier: "unit", files, recorded: new Map(), leasing: new Set(), sharing: new Set() },
    }),
    [[files[0], files[2]], [files[1]]],
  );
});

t.test("files of engines share one where their room's do", async (t) => {
  const [doors, others] = [at("door", "a", "b"), at("vault", "a", "b")];
  t.same(grouped([...doors, ...others]), [...others.map((file) => [file]), doors]);
});

t.test("a dear file, and one that leases, have one of their own", async (t) => {
  const [dear = "", leases = "", ...others] = at("door", "dear", "leases", "x", "y");
  const files = [dear, leases, ...others];
  t.same(
    groupFiles({
      ...{ tier: "engines", files, leasing: new Set([leases]), sharing: new Set(["parts/door"]) },
      recorded: new Map([[dear, { cpuSeconds: 15, wallSeconds: 20 }]]),
    }),
    [[dear], [leases], others],
  );
});

t.test("files of pages and of the installed appliance share none", async (t) => {
  const files = ["parts/door/test/a.browser.test.ts", "parts/door/test/b.browser.test.ts"];
  for (const tier of ["browser", "acceptance"] as const)
    t.same(
      groupFiles({
        ...{ tier, files, recorded: new Map(), leasing: new Set() },
        sharing: new Set(["parts/door"]),
      }),
      files.map((file) => [file]),
    );
});

t.test("a long group is parted, so that no process is the last for long", async (t) => {
  const files = at("door", "a", "b", "c", "d", "e");
  const [a = "", b = "", c = "", d = "", e = ""] = files;
  const groups = grouped(files, { [a]: [9, 80], [b]: [1, 30], [c]: [1, 20], [d]: [1, 20] });
  t.same(groups, [[a], [b, c, d, e]]);
});
