/** What the grid of devices says of one. */
import t from "tap";
import {
  type FleetDevice,
  deviceLine,
  devicesIn,
  legendOf,
  nodeLine,
  shadeOf,
} from "../src/pages/nodes/device-shade.ts";

const FREE: FleetDevice = {
  ...{ worker: "a-0", model: "h100", isHeld: false, unfit: null },
  ...{ usePercent: null, memoryPercent: null, temperatureC: null },
};

t.test("each value has the shade that the legend names", async (t) => {
  const shades = (measure: "use" | "temperature", values: number[]) =>
    values.map((value) => shadeOf({ ...FREE, usePercent: value, temperatureC: value }, measure));
  t.same(shades("use", [0, 19, 20, 79, 80, 100]), [0, 0, 1, 3, 4, 4]);
  t.same(shades("temperature", [21, 40, 69, 70, 85, 99]), [0, 1, 2, 3, 4, 4]);
  t.match(legendOf("use"), [
    { text: "0 to 19%" },
    ...Array.from({ length: 3 }, () => ({})),
    { text: "80% and more" },
    { shade: "untold", text: "not told" },
  ]);
});

t.test("what no tool tells is no idle device", async (t) => {
  t.equal(shadeOf(FREE, "use"), "untold");
  t.equal(shadeOf({ ...FREE, usePercent: 0 }, "use"), 0);
  t.equal(deviceLine(FREE), "a-0, h100 · free");
});

t.test("a device that takes no work is neither free nor in use", async (t) => {
  const out = { ...FREE, isHeld: true, unfit: "Xid 79" };
  t.equal(shadeOf(out, "state"), "out");
  t.equal(shadeOf({ ...FREE, isHeld: true }, "state"), 4);
  t.equal(deviceLine({ ...out, temperatureC: 71 }), "a-0, h100 · takes no work: Xid 79 · 71 °C");
  t.equal(
    nodeLine("n", [out, { ...FREE, temperatureC: 40 }]),
    "n: 1 of 2 in use, 1 take no work, at most 40 °C",
  );
});

t.test("columns become devices again", async (t) => {
  const node = {
    ...{ node: "n", state: "READY" as const, worker: ["n-0", "n-1"], model: [1, 0] },
    ...{ held: [true, false], unfit: [null, "hot"], usePercent: [50, null] },
    ...{ memoryPercent: [3, null], temperatureC: [null, 91] },
  };
  const models = [
    { model: "a100", memoryBytes: 1 },
    { model: "h100", memoryBytes: 1 },
  ];
  t.match(devicesIn(node, models), [
    { worker: "n-0", model: "h100", isHeld: true, usePercent: 50 },
    { worker: "n-1", model: "a100", unfit: "hot", temperatureC: 91 },
  ]);
});
