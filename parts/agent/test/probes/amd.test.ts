import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { parseAmdSmi, parseRocmSmi } from "../../src/probes/amd.ts";

const MIB = 1024 * 1024;
const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8");
/** The recorder took the address out. */
const statics = fixture("amd-smi-static-mi210").replace(
  '"bus": {',
  '"bus": {\n                "bdf": "0000:C1:00.0",',
);
const metrics = fixture("amd-smi-metric-mi210");

t.test("amd-smi's answers are read", (t) => {
  t.strictSame(parseAmdSmi(statics, metrics), [
    {
      model: "mi210",
      vendor: "amd",
      pciAddress: "0000:c1:00.0",
      memoryBytes: 65_520 * MIB,
      memoryInUseBytes: 20_450 * MIB,
      healthy: true,
      architecture: "gfx90a",
      usage: { utilizationPercent: 91, powerWatts: 268, temperatureC: 63 },
    },
  ]);
  const withDriver = statics.replace(/"version": "Linux[^"]*"/, '"version": "6.10.5"');
  t.match(parseAmdSmi(withDriver, metrics), [{ driver: "6.10.5" }]);
  t.end();
});

t.test("a list without its frame, as older releases write it, and a warning before it", (t) => {
  const bare = JSON.stringify((JSON.parse(statics) as { gpu_data: unknown }).gpu_data);
  t.match(parseAmdSmi(`WARNING: a group is missing\n${bare}`, metrics), [{ model: "mi210" }]);
  t.end();
});

t.test("rocm-smi's answer is read, card by card", (t) => {
  const cards = parseRocmSmi(fixture("rocm-smi-mi100"));
  t.match(cards, [
    {
      model: "mi100",
      pciAddress: "0000:83:00.0",
      memoryBytes: 34_342_961_152,
      memoryInUseBytes: 6_750_208,
      healthy: true,
      usage: { utilizationPercent: 0, powerWatts: 36, temperatureC: 55 },
    },
    { pciAddress: "0000:a3:00.0" },
    {},
    {},
  ]);
  t.notOk("architecture" in cards[0]!, "this release does not say it");
  t.end();
});

t.test("errors that could not be corrected, and heat, make it unhealthy and say why", (t) => {
  const [broken] = parseAmdSmi(
    statics,
    metrics.replace('"total_uncorrectable_count": 0', '"total_uncorrectable_count": 3'),
  );
  t.match(broken, { healthy: false, reason: "3 memory errors that could not be corrected" });
  const [hot] = parseAmdSmi(
    statics,
    metrics.replace('"hotspot": { "value": 63', '"hotspot": { "value": 100'),
  );
  t.match(hot, { healthy: false, reason: /^100 °C at its hotspot/ });
  t.end();
});

t.test("what is not the whole answer is refused, never guessed", (t) => {
  const failed = { name: "ProbeFailedError", code: "probe_failed" };
  for (const [what, one, two] of [
    ["nothing", "", metrics],
    ["no JSON", "Traceback (most recent call last):", metrics],
    ["another document", "{}", metrics],
    ["no address", fixture("amd-smi-static-mi210"), metrics],
    ["no use of memory", statics, '{"gpu_data": []}'],
    ["cut off", statics.slice(0, -20), metrics],
    ["not applicable", statics.replace("65520", '"N/A"'), metrics],
  ] as const)
    t.throws(() => parseAmdSmi(one, two), failed, what);
  for (const text of ["", "{}", "[]", '{"card0": {}}', fixture("rocm-smi-mi100").slice(0, 900)])
    t.throws(() => parseRocmSmi(text), failed, text.slice(0, 20));
  t.end();
});
