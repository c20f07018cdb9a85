import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { deviceIds, parseXpuSmi } from "../../src/probes/intel.ts";

const fixture = (name: string): string =>
  readFileSync(join(import.meta.dirname, "fixtures", `${name}.json`), "utf8");
const list = fixture("xpu-smi-discovery-max1100");
const details = fixture("xpu-smi-discovery-max1100-0");
const stats = fixture("xpu-smi-stats-intel-example");

t.test("xpu-smi's answers are read; what is told by tile counts together", (t) => {
  t.strictSame(deviceIds(list), [0, 1]);
  const told = parseXpuSmi(list, 0, details, stats);
  const tiles = (
    JSON.parse(stats) as {
      tile_level: { data_list: { metrics_type: string; value: number }[] }[];
    }
  ).tile_level.flatMap(({ data_list }) => data_list);
  const used = tiles
    .filter(({ metrics_type }) => metrics_type === "XPUM_STATS_MEMORY_USED")
    .reduce((sum, { value }) => sum + value, 0);
  t.strictSame(told, {
    model: "max_1100",
    vendor: "intel",
    pciAddress: "0000:29:00.0",
    memoryBytes: 51_522_830_336,
    memoryInUseBytes: used,
    healthy: true,
    architecture: "pvc",
    driver: "23.10.72",
    usage: { utilizationPercent: 100, powerWatts: 63.26, temperatureC: 37 },
  });
  t.end();
});

t.test("memory in MiB, as the command line writes it, is told from bytes", (t) => {
  const one = JSON.stringify({
    device_level: [{ metrics_type: "XPUM_STATS_MEMORY_USED", value: 229.1875 }],
  });
  t.equal(parseXpuSmi(list, 0, details, one)?.memoryInUseBytes, 229.1875 * 1024 * 1024);
  t.end();
});

t.test("a device without memory of its own is part of the processor", (t) => {
  const integrated = details.replace(/"memory_physical_size_byte": "\d+"/, '"sku": ""');
  t.equal(parseXpuSmi(list, 0, integrated, stats), null);
  t.end();
});

t.test("errors that could not be corrected make it unhealthy and say why", (t) => {
  const type = "XPUM_STATS_RAS_ERROR_CAT_CACHE_ERRORS_UNCORRECTABLE";
  const broken = JSON.stringify({
    device_level: [
      { metrics_type: "XPUM_STATS_MEMORY_USED", value: 1 },
      { metrics_type: type, value: 2 },
    ],
  });
  t.match(parseXpuSmi(list, 0, details, broken), {
    healthy: false,
    reason: "2 memory errors that could not be corrected",
  });
  t.end();
});

t.test("what is not the whole answer is refused, never guessed", (t) => {
  const failed = { name: "ProbeFailedError", code: "probe_failed" };
  for (const text of ["", "Error: Level Zero Initialization Error", "{}", '{"device_list": [{}]}'])
    t.throws(() => deviceIds(text), failed, text);
  t.throws(() => parseXpuSmi(list, 0, details, "{}"), failed, "no use of memory");
  t.throws(() => parseXpuSmi(list, 0, "", stats), failed, "no details");
  t.throws(() => parseXpuSmi(list, 7, details, stats), failed, "not listed");
  t.end();
});
