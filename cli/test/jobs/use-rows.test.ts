import type { UseMeasure, UseReply } from "@resontech/contracts/http-use";
import { USE_UNITS } from "@resontech/contracts/http-use";
import t from "tap";
import { USE_HEAD, useRows } from "../../src/jobs/use-rows.ts";

const GIB = 1024 ** 3;
type Series = UseReply["series"][number];

function curve(
  measure: UseMeasure,
  values: (number | null)[],
  of: Series["of"] = { member: "j-a1-site-1", site: "site-1", attempt: "1", node: "node-a" },
): Series {
  return { measure, unit: USE_UNITS[measure], of, values };
}

t.test("a member is a row: now, in the mean and at most, and sums of what passed", async (t) => {
  const series = [
    curve("cpu", [null, 1, 0.5]),
    curve("memory", [GIB, 2 * GIB, 1.5 * GIB]),
    curve("memory_peak", [2.5 * GIB, 2.5 * GIB, 2.5 * GIB]),
    curve("memory_limit", [4 * GIB, 4 * GIB, 4 * GIB]),
    ...[curve("disk_read", [0, 1024, 1024]), curve("disk_write", [0, 0, 0])],
    curve("device_use", [90, 100, 50], { member: "j-a1-site-1", site: "site-1", worker: "n-0" }),
    curve("device_use", [10, null, 0], { member: "j-a1-site-1", site: "site-1", worker: "n-1" }),
  ];
  const [row = []] = useRows({ series, stepS: 15 });
  t.same(row, [
    ...["site-1", "1", "0.50", "0.75", "1.00", "1.5 GiB", "2.5 GiB", "4.0 GiB"],
    ...["30.0 KiB", "0 bytes", "-", "-", "25%", "58%", "100%", "-"],
  ]);
  t.equal(row.length, USE_HEAD.length);
});

t.test("of what has ended nothing is now, and what was not told is no zero", async (t) => {
  const [row = []] = useRows({ series: [curve("cpu", [2, 1, null, null, null])], stepS: 15 });
  t.same(row.slice(2, 7), ["-", "1.50", "2.00", "-", "-"]);
});

t.test("members of each attempt have rows of their own", async (t) => {
  const of = (attempt: string) => ({ member: `j-a${attempt}-server`, site: "server", attempt });
  const rows = useRows({
    series: [curve("cpu", [1], of("1")), curve("cpu", [1], of("2"))],
    stepS: 15,
  });
  t.same(
    rows.map(([member, attempt]) => [member, attempt]),
    [
      ["server", "1"],
      ["server", "2"],
    ],
  );
  t.same(useRows({ series: [], stepS: 15 }), []);
});
