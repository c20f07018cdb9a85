/** NVIDIA accelerators, through their own tool: `nvidia-smi -q -x`, schemas v11 to v13. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { catalogueModel } from "@resontech/contracts/gpu-catalogue";
import { XMLParser, XMLValidator } from "fast-xml-parser";
import { type Accelerator, type AcceleratorProbe, ProbeFailedError } from "./accelerator-probe.ts";

const TOOL = "nvidia-smi";
const TIMEOUT_MS = 20_000;
const MAX_OUTPUT_BYTES = 16 * 1024 * 1024;
const MAX_SAID_CHARS = 300;
const MIB = 1024 * 1024;

export const nvidiaProbe: AcceleratorProbe = {
  vendor: "nvidia",
  async read() {
    let output: string;
    try {
      ({ stdout: output } = await promisify(execFile)(TOOL, ["-q", "-x"], {
        timeout: TIMEOUT_MS,
        maxBuffer: MAX_OUTPUT_BYTES,
      }));
    } catch (error) {
      if (codeOf(error) === "ENOENT") return null;
      throw new ProbeFailedError(TOOL, whyFailed(error), { cause: error });
    }
    return parseNvidiaSmi(output);
  },
};

/** The tool says what is wrong on its standard output: "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver." */
function whyFailed(error: unknown): string {
  if (codeOf(error) === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER")
    return `wrote more than ${MAX_OUTPUT_BYTES} bytes`;
  if (error instanceof Error && "killed" in error && error.killed === true)
    return `did not end within ${TIMEOUT_MS / 1000} s`;
  const said =
    error instanceof Error && "stdout" in error && typeof error.stdout === "string"
      ? error.stdout.trim()
      : "";
  return `failed (${String(codeOf(error))}): ${said.slice(0, MAX_SAID_CHARS)}`;
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}

type Node = { [name: string]: unknown };

const parser = new XMLParser({
  ignoreAttributes: true,
  parseTagValue: false,
  isArray: (name) => name === "gpu" || name === "process_info",
});

/**
 * A device in MIG mode is left out: its parts are devices of their own, which this release does not hand out.
 * @throws ProbeFailedError for what is not the whole answer, or lacks what makes a device one; nothing is guessed
 */
export function parseNvidiaSmi(xml: string): Accelerator[] {
  const log = asNode(parse(xml)["nvidia_smi_log"]);
  const gpus = asList(log["gpu"] ?? []).map(asNode);
  if (gpus.length === 0 && text(log, "attached_gpus") !== "0")
    throw new ProbeFailedError(TOOL, "neither lists devices nor says that there are none");
  return gpus.filter((gpu) => text(gpu, "mig_mode", "current_mig") !== "Enabled").map(readGpu);
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

function readGpu(gpu: Node): Accelerator {
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
  const processes = asList(asNode(gpu["processes"])["process_info"] ?? []).map(asNode);
  return {
    model: catalogueId(name),
    memoryBytes,
    device,
    vendor: "nvidia",
    healthy: isHealthy(gpu),
    memoryInUseBytes,
    computeProcesses: processes.filter((process) => text(process, "type").includes("C")).length,
  };
}

/** Uncorrectable memory errors since the driver was loaded, or the driver's own word that the device must be reset. */
function isHealthy(gpu: Node): boolean {
  const errors = [
    "sram_uncorrectable",
    "dram_uncorrectable",
    "sram_uncorrectable_parity",
    "sram_uncorrectable_secded",
  ].map((name) => text(gpu, "ecc_errors", "volatile", name));
  const isBroken = errors.some((count) => /^[1-9]/.test(count));
  return !isBroken && text(gpu, "gpu_reset_status", "reset_required") !== "Yes";
}

/**
 * `NVIDIA GeForce RTX 4090` → `rtx_4090`, `NVIDIA A100-SXM4-80GB` → `a100_80gb`, `NVIDIA H100 80GB HBM3` → `h100`. What the catalogue does
 * not name keeps its own name in the same spelling.
 */
export function catalogueId(productName: string): string {
  const words = productName
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter(
      (word) =>
        word !== "" && !/^(nvidia|geforce|tesla|quadro|sxm\d?|pcie|nvl|hbm\d\w?)$/.test(word),
    );
  // The longest beginning that the catalogue knows: `rtx_pro_6000` of "RTX PRO 6000 Blackwell Server Edition".
  for (let length = words.length; length > 0; length -= 1) {
    const id = words.slice(0, length).join("_");
    if (catalogueModel(id) !== undefined) return id;
  }
  return words.length === 0 ? "nvidia_gpu" : words.join("_").slice(0, 64);
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
