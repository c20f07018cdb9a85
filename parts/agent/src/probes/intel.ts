/** Intel accelerators, through `xpu-smi` (Intel XPU Manager 1.2 and newer). */
import { catalogueId } from "../decisions/catalogue-id.ts";
import { type AcceleratorProbe, ProbeFailedError } from "./accelerator-probe.ts";
import { pciAddress } from "./pci-device.ts";
import { type ToldDevice, withUsers } from "./render-devices.ts";
import { runTool } from "./run-tool.ts";
import { at, type Fields, listOf, numberAt, parseToolJson, textAt } from "./tool-json.ts";
import { usageOf } from "./usage-of.ts";

const TOOL = "xpu-smi";
const MIB = 1024 * 1024;
const MAX_DEVICES = 64;

/** What oneAPI's compilers call these chips, by PCI device id. https://dgpu-docs.intel.com/devices/hardware-table.html */
const ARCHITECTURES: readonly (readonly [RegExp, string])[] = [
  [/^0xb(d[0-9a-b]|6[9e])$/, "pvc"],
  [/^0x56c0$/, "ats-m150"],
  [/^0x56c1$/, "ats-m75"],
];

export const intelProbe: AcceleratorProbe = {
  vendor: "intel",
  async read() {
    const list = await runTool(TOOL, ["discovery", "-j"]);
    if (list === null) return null;
    const told: ToldDevice[] = [];
    // One after another: each call of the tool starts the whole driver stack.
    for (const id of deviceIds(list)) {
      const [details, stats] = [
        await runTool(TOOL, ["discovery", "-d", String(id), "-j"]),
        await runTool(TOOL, ["stats", "-d", String(id), "-j"]),
      ];
      const device = parseXpuSmi(list, id, details ?? "", stats ?? "");
      if (device !== null) told.push(device);
    }
    return withUsers(TOOL, told);
  },
};

/** @param list of `xpu-smi discovery -j` @throws ProbeFailedError for what is no list of devices */
export function deviceIds(list: string): number[] {
  const devices = at(parseToolJson(TOOL, list), "device_list");
  const ids = listOf(devices).map((device) => numberAt(device, "device_id"));
  if (!Array.isArray(devices) || ids.length > MAX_DEVICES || ids.includes(null))
    throw new ProbeFailedError(TOOL, "gives no list of devices");
  return ids as number[];
}

/**
 * @param details of `xpu-smi discovery -d ID -j` @param stats of `xpu-smi stats -d ID -j`
 * @returns null for a device without memory of its own: it is part of the processor
 * @throws ProbeFailedError for what is not the whole answer
 */
export function parseXpuSmi(
  list: string,
  id: number,
  details: string,
  stats: string,
): ToldDevice | null {
  const listed =
    listOf(at(parseToolJson(TOOL, list), "device_list")).find(
      (device) => numberAt(device, "device_id") === id,
    ) ?? {};
  const detailed = parseToolJson(TOOL, details);
  const memoryBytes = numberAt(detailed, "memory_physical_size_byte") ?? 0;
  if (memoryBytes === 0) return null;
  const name = textAt(listed, "device_name");
  const address = pciAddress(textAt(listed, "pci_bdf_address"));
  const metrics = metricsOf(parseToolJson(TOOL, stats));
  const used = metrics.get("XPUM_STATS_MEMORY_USED");
  if (name === "" || address === null || used === undefined)
    throw new ProbeFailedError(TOOL, `does not say what device ${id} is or uses`);
  const errors = metrics.get("XPUM_STATS_RAS_ERROR_CAT_CACHE_ERRORS_UNCORRECTABLE") ?? 0;
  const driver = textAt(detailed, "driver_version");
  const pciId = textAt(listed, "pci_device_id").toLowerCase();
  const architecture = ARCHITECTURES.find(([ids]) => ids.test(pciId))?.[1];
  return {
    model: catalogueId(name, "intel"),
    vendor: "intel",
    pciAddress: address,
    memoryBytes,
    memoryInUseBytes: inBytes(used, memoryBytes),
    healthy: errors === 0,
    ...(errors === 0 ? {} : { reason: `${errors} memory errors that could not be corrected` }),
    ...(architecture === undefined ? {} : { architecture }),
    // `I915_23.10.72_PSB_231129.76`: an underscore is no part of a version.
    ...versionOf(driver),
    usage: usageOf(
      metrics.get("XPUM_STATS_GPU_UTILIZATION") ?? null,
      metrics.get("XPUM_STATS_POWER") ?? null,
      metrics.get("XPUM_STATS_GPU_CORE_TEMPERATURE") ?? null,
    ),
  };
}

function versionOf(driver: string): { driver?: string } {
  const version = /\d+(\.\d+)+/.exec(driver)?.[0];
  return version === undefined || version.length > 64 ? {} : { driver: version };
}

/** The command line writes MiB, the service of older releases bytes; what can't be MiB is bytes. */
function inBytes(used: number, memoryBytes: number): number {
  return Math.round(used * MIB <= memoryBytes ? used * MIB : used);
}

/** Reads the metrics of a device. What is told by tile alone is summed for memory and errors, and else the highest counts. */
function metricsOf(stats: unknown): ReadonlyMap<string, number> {
  const metrics = new Map<string, number>();
  for (const tile of listOf(at(stats, "tile_level")))
    for (const [type, value] of valuesOf(listOf(tile["data_list"]))) {
      const before = metrics.get(type) ?? 0;
      const isSum = type === "XPUM_STATS_MEMORY_USED" || type.includes("_ERROR_");
      metrics.set(type, isSum ? before + value : Math.max(before, value));
    }
  for (const [type, value] of valuesOf(listOf(at(stats, "device_level")))) metrics.set(type, value);
  return metrics;
}

function valuesOf(entries: readonly Fields[]): [string, number][] {
  return entries.flatMap((entry) => {
    const value = numberAt(entry, "value");
    return value === null ? [] : [[textAt(entry, "metrics_type"), value]];
  });
}
