/** NVIDIA accelerators, through their own tool. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";

const QUERY = "index,uuid,name,memory.total,ecc.errors.uncorrected.volatile.total";
const MIB = 1024 * 1024;

export type Accelerator = Pick<InventoryWorker, "model" | "memoryBytes" | "device" | "vendor" | "healthy">;

/** `NVIDIA GeForce RTX 4090` → `rtx_4090`, `NVIDIA A100-SXM4-80GB` → `a100_80gb`, `NVIDIA H200` → `h200`. */
export function catalogueId(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/^(nvidia|tesla|quadro)\s+/g, "")
    .replace(/^(nvidia|geforce|tesla)\s+/, "")
    .replace(/\b(geforce|sxm\d?|pcie|nvl|hbm\d\w?)\b/g, " ");
  const id = plain.replaceAll(/[^a-z0-9]+/g, "_").replaceAll(/^_+|_+$/g, "");
  return id === "" ? "nvidia_gpu" : id;
}

/** Reads `nvidia-smi --query-gpu=… --format=csv,noheader,nounits`; a line of another shape is refused, never guessed. */
export function parseNvidiaSmi(output: string): Accelerator[] {
  const found: Accelerator[] = [];
  for (const line of output.split("\n")) {
    if (line.trim() === "") continue;
    const [, uuid, name, memoryMib, errors] = line.split(",").map((field) => field.trim());
    if (uuid === undefined || name === undefined || !/^GPU-[0-9a-f-]{36}$/i.test(uuid) || !/^\d+$/.test(memoryMib ?? "")) {
      throw new Error(`nvidia-smi answered a line that is no accelerator: ${JSON.stringify(line.slice(0, 120))}`);
    }
    found.push({
      model: catalogueId(name),
      memoryBytes: Number(memoryMib) * MIB,
      device: uuid,
      vendor: "nvidia",
      healthy: errors === undefined || !/^[1-9]/.test(errors),
    });
  }
  return found;
}

/** Accelerators of this node; a node without the tool has none, which is a normal case. */
export async function probeNvidia(): Promise<Accelerator[]> {
  try {
    const { stdout } = await promisify(execFile)("nvidia-smi", [`--query-gpu=${QUERY}`, "--format=csv,noheader,nounits"], {
      timeout: 15_000,
    });
    return parseNvidiaSmi(stdout);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return [];
    throw error;
  }
}
