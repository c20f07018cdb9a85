/** NVIDIA accelerators, through their own tool: `nvidia-smi -q -x`, schemas v11 to v13, and `-L` for handles of parts. */
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { catalogueId } from "../decisions/catalogue-id.ts";
import { computeCapability } from "../decisions/compute-capability.ts";
import { type Accelerator, type AcceleratorProbe, ProbeFailedError } from "./accelerator-probe.ts";
import { pciAddress } from "./pci-device.ts";
import { runTool } from "./run-tool.ts";
import { usageOf } from "./usage-of.ts";

const TOOL = "nvidia-smi";
const MAX_SAID_CHARS = 300;
const MIB = 1024 * 1024;

export const nvidiaProbe: AcceleratorProbe = {
  vendor: "nvidia",
  async read() {
    const [xml, capabilities] = await Promise.all([
      runTool(TOOL, ["-q", "-x"]),
      readCapabilities(),
    ]);
    if (xml === null) return null;
    // The long answer has no handles of parts.
    const list = /<current_mig>Enabled</.test(xml) ? await runTool(TOOL, ["-L"]) : null;
    return parseNvidiaSmi(xml, capabilities, parseMigList(list ?? ""));
  },
};

/** The matrix of `nvidia-smi topo -m`; empty where the tool is not there or has none to tell. */
export async function readTopologyText(): Promise<string> {
  try {
    return (await runTool(TOOL, ["topo", "-m"])) ?? "";
  } catch (error) {
    if (error instanceof ProbeFailedError) return "";
    throw error;
  }
}

/** Reads the compute capability by device. The field is of drivers from 510 on; an older tool refuses it, and so may a broken one, whose other answer tells why. */
async function readCapabilities(): Promise<ReadonlyMap<string, string>> {
  try {
    const query = ["--query-gpu=uuid,compute_cap", "--format=csv,noheader"];
    return parseCapabilities((await runTool(TOOL, query)) ?? "");
  } catch (error) {
    if (error instanceof ProbeFailedError) return new Map();
    throw error;
  }
}

/** Lines `GPU-…, 8.6`; what is no such line is passed over. */
export function parseCapabilities(csv: string): ReadonlyMap<string, string> {
  return new Map(
    csv.split("\n").flatMap((line) => {
      const match = /^(GPU-[0-9a-f-]{36}), (\d{1,2}\.\d{1,2})\s*$/i.exec(line);
      return match === null ? [] : [[match[1]!, match[2]!] as const];
    }),
  );
}

type Node = { [name: string]: unknown };

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  isArray: (name) => ["gpu", "mig_device", "process_info"].includes(name),
});

/** A part of a device: `1g.5gb`, and the handle that engines know it by. */
type MigHandle = { profile: string; device: string };

/** Reads `nvidia-smi -L`, by the device's handle and the part's index. Drivers before 470 give parts no handle of their own; these are left out. */
export function parseMigList(list: string): ReadonlyMap<string, MigHandle> {
  const handles = new Map<string, MigHandle>();
  let gpu = "";
  for (const line of list.split("\n")) {
    gpu = /^GPU \d+: .*\(UUID: (GPU-[0-9a-f-]{36})\)/i.exec(line)?.[1] ?? gpu;
    const part =
      /^\s*MIG ([A-Za-z0-9.+]{1,32})\s+Device\s+(\d+): \(UUID: (MIG-[0-9a-f-]{36})\)/i.exec(line);
    if (part !== null) handles.set(`${gpu} ${part[2]}`, { profile: part[1]!, device: part[3]! });
  }
  return handles;
}

/**
 * Of a device in MIG mode its parts, each a device of its own; one without parts is none.
 * @param handles of {@link parseMigList}
 * @throws ProbeFailedError for what is not the whole answer, or lacks what makes a device one; nothing is guessed
 */
export function parseNvidiaSmi(
  xml: string,
  capabilities: ReadonlyMap<string, string> = new Map(),
  handles: ReadonlyMap<string, MigHandle> = new Map(),
): Accelerator[] {
  const log = asNode(parse(xml)["nvidia_smi_log"]);
  const gpus = asList(log["gpu"] ?? []).map(asNode);
  if (gpus.length === 0 && text(log, "attached_gpus") !== "0")
    throw new ProbeFailedError(TOOL, "neither lists devices nor says that there are none");
  const driver = text(log, "driver_version");
  const cuda = text(log, "cuda_version");
  return gpus
    .flatMap((gpu) => {
      const whole = readGpu(gpu, capabilities);
      return text(gpu, "mig_mode", "current_mig") === "Enabled"
        ? readParts(gpu, whole, handles)
        : [whole];
    })
    .map((one) => ({
      ...one,
      ...(/^[0-9][0-9.]{0,63}$/.test(driver) ? { driver } : {}),
      ...(/^\d{1,3}\.\d{1,3}$/.test(cuda) ? { cuda } : {}),
    }));
}

/** Named as Kubernetes' device plugin names them: `a100_80gb-mig-1g.10gb`. Power and temperature are those of the whole. */
function readParts(
  gpu: Node,
  whole: Accelerator,
  handles: ReadonlyMap<string, MigHandle>,
): Accelerator[] {
  const parts = asList(asNode(gpu["mig_devices"])["mig_device"] ?? []).map(asNode);
  return parts.flatMap((part) => {
    const handle = handles.get(`${whole.device} ${text(part, "index")}`);
    const memoryBytes = mebibytes(text(part, "fb_memory_usage", "total"));
    const memoryInUseBytes = mebibytes(text(part, "fb_memory_usage", "used"));
    if (handle === undefined) return [];
    if (memoryBytes === null || memoryInUseBytes === null)
      throw new ProbeFailedError(TOOL, `does not say what memory ${handle.device} has`);
    const errors = text(part, "ecc_error_count", "volatile_count", "sram_uncorrectable");
    const reason =
      whole.reason ??
      (/^[1-9]/.test(errors) ? `${errors} memory errors that could not be corrected` : null);
    const { utilizationPercent: _ofTheWhole, ...usage } = whole.usage;
    return [
      {
        ...whole,
        model: `${whole.model}-mig-${handle.profile.replaceAll("+", ".")}`.slice(0, 64),
        ...{ device: handle.device, memoryBytes, memoryInUseBytes, usage },
        healthy: reason === null,
        ...(reason === null ? {} : { reason }),
        computeProcesses: computing(gpu).filter(
          (process) =>
            text(process, "gpu_instance_id") === text(part, "gpu_instance_id") &&
            text(process, "compute_instance_id") === text(part, "compute_instance_id"),
        ).length,
      },
    ];
  });
}

/** Processes that compute, whatever they draw beside it. */
function computing(gpu: Node): Node[] {
  return asList(asNode(gpu["processes"])["process_info"] ?? [])
    .map(asNode)
    .filter((process) => text(process, "type").includes("C"));
}

/** The parser alone takes any text, and closes what was cut off. */
function parse(xml: string): Node {
  try {
    const validity = XMLValidator.validate(xml);
    if (validity !== true) throw new Error(validity.err.msg);
    return asNode(parser.parse(xml));
  } catch (error) {
    throw new ProbeFailedError(TOOL, `wrote no XML: ${textOf(error).slice(0, MAX_SAID_CHARS)}`, {
      cause: error,
    });
  }
}

function readGpu(gpu: Node, capabilities: ReadonlyMap<string, string>): Accelerator {
  const [name, device] = [text(gpu, "product_name"), text(gpu, "uuid")];
  const memoryBytes = mebibytes(text(gpu, "fb_memory_usage", "total"));
  const memoryInUseBytes = mebibytes(text(gpu, "fb_memory_usage", "used"));
  if (
    !/^GPU-[0-9a-f-]{36}$/i.test(device) ||
    name === "" ||
    memoryBytes === null ||
    memoryInUseBytes === null
  )
    throw new ProbeFailedError(
      TOOL,
      `describes a device that is none: ${JSON.stringify({ name, device }).slice(0, 200)}`,
    );
  const model = catalogueId(name);
  const architecture =
    capabilities.get(device) ?? computeCapability(model, text(gpu, "product_architecture"));
  const reason = whyBroken(gpu);
  const address = pciAddress(text(gpu, "pci", "pci_bus_id"));
  return {
    model,
    memoryBytes,
    device,
    vendor: "nvidia",
    healthy: reason === null,
    ...(reason === null ? {} : { reason }),
    ...(address === null ? {} : { pciAddress: address }),
    ...(architecture === undefined ? {} : { architecture }),
    memoryInUseBytes,
    computeProcesses: computing(gpu).length,
    usage: usageOf(
      quantity(text(gpu, "utilization", "gpu_util"), "%"),
      POWER_DRAWS.map((path) => quantity(text(gpu, ...path), "W")).find(
        (watts) => watts !== null,
      ) ?? null,
      quantity(text(gpu, "temperature", "gpu_temp"), "C"),
    ),
  };
}

/** By schema, the newest first: v13, v12 with a driver from 530 on, v11. */
const POWER_DRAWS = [
  ["gpu_power_readings", "instant_power_draw"],
  ["gpu_power_readings", "average_power_draw"],
  ["gpu_power_readings", "power_draw"],
  ["power_readings", "power_draw"],
] as const;

/** What the driver says of memory that no reset mends: NVIDIA replaces such a device. Newer drivers know more of them. */
const BEYOND_REPAIR = [
  [["remapped_rows", "remapped_row_failure"], "a broken row of its memory could not be replaced"],
  [["ecc_errors", "unrepairable_memory"], "memory that can't be repaired"],
  [
    ["ecc_errors", "aggregate", "sram_threshold_exceeded"],
    "more memory errors than its maker allows",
  ],
] as const;

/**
 * Uncorrectable memory errors since the driver was loaded, memory beyond repair, the driver's own word that something must be done, or a
 * temperature at which it slows itself down.
 */
function whyBroken(gpu: Node): string | null {
  const counts = [
    "sram_uncorrectable",
    "dram_uncorrectable",
    "sram_uncorrectable_parity",
    "sram_uncorrectable_secded",
  ].map((name) => text(gpu, "ecc_errors", "volatile", name));
  const errors = counts.find((count) => /^[1-9]/.test(count));
  if (errors !== undefined) return `${errors} memory errors that could not be corrected`;
  const beyond = BEYOND_REPAIR.find(([path]) => text(gpu, ...path) === "Yes");
  if (beyond !== undefined) return beyond[1];
  if (text(gpu, "gpu_reset_status", "reset_required") === "Yes")
    return "its driver says that it must be reset";
  const action = text(gpu, "gpu_recovery_action");
  if (/reset|reboot|drain|recover/i.test(action))
    return `its driver asks for: ${action.replace(/[^A-Za-z0-9 ]/g, "").slice(0, 40)}`;
  const now = quantity(text(gpu, "temperature", "gpu_temp"), "C");
  return now !== null && isTooHot(gpu, now) ? `${now} °C, where it slows itself down` : null;
}

/** Devices from Hopper on name no temperature: how many degrees are left, and at how many, below zero too, they slow themselves down. */
function isTooHot(gpu: Node, now: number): boolean {
  const degrees = (name: string) => quantity(text(gpu, "temperature", name), "C");
  const limit = degrees("gpu_temp_slow_threshold");
  if (limit !== null) return now >= limit;
  const [left, least] = [degrees("gpu_temp_tlimit"), degrees("gpu_temp_slow_tlimit_threshold")];
  return left !== null && least !== null && left <= least;
}

/** `67.03 W` → 67.03, `-2 C` → -2; null for `N/A` and all else. */
function quantity(value: string, unit: string): number | null {
  const match = /^(-?\d+(?:\.\d+)?) (\S+)$/.exec(value);
  return match?.[2] === unit ? Number(match[1]) : null;
}

function mebibytes(value: string): number | null {
  const match = /^(\d+) MiB$/.exec(value);
  return match === null ? null : Number(match[1]) * MIB;
}

function text(node: Node, ...path: string[]): string {
  let value: unknown = node;
  for (const name of path) value = asNode(value)[name];
  return typeof value === "string" ? value : "";
}

function asNode(value: unknown): Node {
  return typeof value === "object" && value !== null ? (value as Node) : {};
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [value];
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
