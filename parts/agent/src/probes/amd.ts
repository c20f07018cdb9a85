/** AMD accelerators, through `amd-smi`, or `rocm-smi` where only that is installed (ROCm before 6.0). */
import { catalogueId } from "../decisions/catalogue-id.ts";
import { type AcceleratorProbe, type DeviceUsage, ProbeFailedError } from "./accelerator-probe.ts";
import { pciAddress } from "./pci-device.ts";
import { type ToldDevice, withUsers } from "./render-devices.ts";
import { runTool } from "./run-tool.ts";
import { at, type Fields, fieldsOf, listOf, numberAt, parseToolJson, textAt } from "./tool-json.ts";
import { usageOf } from "./usage-of.ts";

const AMD_SMI = "amd-smi";
const ROCM_SMI = "rocm-smi";
const ROCM_SMI_ASKED = [
  ...["--showproductname", "--showbus", "--showmeminfo", "vram", "--showuse", "--showtemp"],
  ...["--showpower", "--showdriverversion", "--json"],
];
/** The tool divides bytes by 1024² and calls it MB (`amdsmi_commands.py`). */
const MIB = 1024 * 1024;

export const amdProbe: AcceleratorProbe = {
  vendor: "amd",
  async read() {
    const [statics, metrics] = await Promise.all([
      runTool(AMD_SMI, ["static", "--json"]),
      runTool(AMD_SMI, ["metric", "--json"]),
    ]);
    if (statics !== null && metrics !== null)
      return withUsers(AMD_SMI, parseAmdSmi(statics, metrics));
    const older = await runTool(ROCM_SMI, ROCM_SMI_ASKED);
    return older === null ? null : withUsers(ROCM_SMI, parseRocmSmi(older));
  },
};

/** @param statics of `amd-smi static --json` @param metrics of `amd-smi metric --json` @throws ProbeFailedError for what is not the whole answer */
export function parseAmdSmi(statics: string, metrics: string): ToldDevice[] {
  const metricOf = new Map(gpusOf(metrics).map((metric) => [at(metric, "gpu"), metric]));
  return gpusOf(statics).map((gpu) => {
    const metric = metricOf.get(at(gpu, "gpu")) ?? {};
    const name = marketName(textAt(gpu, "asic", "market_name"));
    const reason = whyBroken(gpu, metric);
    return device(AMD_SMI, name, textAt(gpu, "bus", "bdf"), {
      memoryBytes: times(numberAt(gpu, "vram", "size"), MIB),
      memoryInUseBytes: times(numberAt(metric, "mem_usage", "used_vram"), MIB),
      architecture: textAt(gpu, "asic", "target_graphics_version"),
      driver: textAt(gpu, "driver", "version"),
      reason,
      usage: usageOf(
        numberAt(metric, "usage", "gfx_activity"),
        numberAt(metric, "power", "socket_power"),
        numberAt(metric, "temperature", "hotspot") ?? numberAt(metric, "temperature", "edge"),
      ),
    });
  });
}

/** One object a card, its values in quotes. @throws ProbeFailedError for what is not the whole answer */
export function parseRocmSmi(text: string): ToldDevice[] {
  const root = fieldsOf(parseToolJson(ROCM_SMI, text));
  const cards = Object.entries(root).filter(([name]) => /^card\d+$/.test(name));
  if (cards.length === 0) throw new ProbeFailedError(ROCM_SMI, "lists no cards");
  const driver = textAt(root, "system", "Driver version");
  return cards.map(([, value]) => {
    const card = fieldsOf(value);
    // "Card series" became "Card Series" with ROCm 6.1.
    const name = marketName(textAt(card, "Card series") || textAt(card, "Card Series"));
    return device(ROCM_SMI, name, textAt(card, "PCI Bus"), {
      memoryBytes: numberAt(card, "VRAM Total Memory (B)"),
      memoryInUseBytes: numberAt(card, "VRAM Total Used Memory (B)"),
      architecture: textAt(card, "GFX Version"),
      driver,
      reason: null,
      usage: usageOf(
        numberAt(card, "GPU use (%)"),
        numberAt(card, "Current Socket Graphics Package Power (W)") ??
          numberAt(card, "Average Graphics Package Power (W)"),
        numberAt(card, "Temperature (Sensor junction) (C)") ??
          numberAt(card, "Temperature (Sensor edge) (C)"),
      ),
    });
  });
}

/** A list, or since ROCm 6.4 an object with one. */
function gpusOf(text: string): Fields[] {
  const root = parseToolJson(AMD_SMI, text);
  const gpus = Array.isArray(root) ? root : at(root, "gpu_data");
  if (!Array.isArray(gpus)) throw new ProbeFailedError(AMD_SMI, "lists no devices");
  return listOf(gpus);
}

/** `Arcturus GL-XL [Instinct MI100]` → `Instinct MI100`: the chip's name stands before the product's. Older tools leave the bracket open. */
function marketName(name: string): string {
  return /\[([^\]]+)/.exec(name)?.[1] ?? name;
}

type Found = {
  memoryBytes: number | null;
  memoryInUseBytes: number | null;
  architecture: string;
  driver: string;
  reason: string | null;
  usage: DeviceUsage;
};

function device(tool: string, name: string, bus: string, found: Found): ToldDevice {
  const { memoryBytes, memoryInUseBytes, architecture, driver, reason, usage } = found;
  const address = pciAddress(bus);
  if (name === "" || address === null || memoryBytes === null || memoryInUseBytes === null)
    throw new ProbeFailedError(
      tool,
      `describes a device that is none: ${JSON.stringify({ name, bus }).slice(0, 200)}`,
    );
  return {
    model: catalogueId(name, "amd"),
    vendor: "amd",
    pciAddress: address,
    memoryBytes,
    memoryInUseBytes,
    healthy: reason === null,
    ...(reason === null ? {} : { reason }),
    ...(/^gfx[0-9a-f]{3,5}$/.test(architecture) ? { architecture } : {}),
    ...(/^[0-9A-Za-z.+~-]{1,64}$/.test(driver) ? { driver } : {}),
    usage,
  };
}

/** Uncorrectable memory errors since the driver was loaded, or a temperature at which the device slows itself down. */
function whyBroken(gpu: Fields, metric: Fields): string | null {
  const errors = numberAt(metric, "ecc", "total_uncorrectable_count") ?? 0;
  if (errors > 0) return `${errors} memory errors that could not be corrected`;
  for (const [sensor, limit] of [
    ["hotspot", "slowdown_hotspot_temperature"],
    ["mem", "slowdown_vram_temperature"],
  ] as const) {
    const [now, most] = [numberAt(metric, "temperature", sensor), numberAt(gpu, "limit", limit)];
    if (now !== null && most !== null && most > 0 && now >= most)
      return `${now} °C at its ${sensor}, where it slows itself down`;
  }
  return null;
}

function times(value: number | null, factor: number): number | null {
  return value === null ? null : Math.round(value * factor);
}
