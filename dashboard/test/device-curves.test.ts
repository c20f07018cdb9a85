import { deviceOfCurve, devicePoints } from "@resontech/contracts/device-curves";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import t from "tap";
import { applyToDevices } from "../src/live/apply-to-devices.ts";
import type { Told } from "../src/live/told.ts";

const reading = { worker: "node-a-0", usePercent: 40, memoryBytes: 5, watts: null };
const told = (number: number, at: string): Told => ({
  ...{ kind: "change", sequence: number, at },
  change: {
    ...{ kind: "device-use", job: "j", member: "m", site: "site-1", number },
    ...reading,
  },
});

t.test("a reading is points of a device's curves, and a curve says whose it is", async (t) => {
  t.same(devicePoints(reading), [
    ["use node-a-0", 40],
    ["memory node-a-0", 5],
  ]);
  for (const [name] of devicePoints(reading)) t.equal(deviceOfCurve(name)?.worker, "node-a-0");
  t.equal(deviceOfCurve("loss"), null);
});

t.test("a reading lengthens its curves, and one that was read already does nothing", async (t) => {
  const none: JobMetricsReply = { series: [], began: null, upTo: 0 };
  const one = applyToDevices(none, told(1, "2026-01-01T00:00:00.000Z"));
  const two = applyToDevices(one, told(2, "2026-01-01T00:00:30.000Z"));
  t.equal(applyToDevices(two, told(2, "2026-01-01T00:01:00.000Z")), two);
  t.same(
    two.series.map(({ name, points }) => [name, points]),
    [
      [
        "use node-a-0",
        [
          [0, 40, 40, 40],
          [30, 40, 40, 40],
        ],
      ],
      [
        "memory node-a-0",
        [
          [0, 5, 5, 5],
          [30, 5, 5, 5],
        ],
      ],
    ],
  );
});
