/**
 * The accelerators that the platform knows by name: what `gpuModels` may say, what an agent calls its devices, what an hour costs.
 * Prices are the defaults of the release, in cents a device-hour.
 */
export type CatalogueModel = {
  id: string;
  name: string;
  vendor: "nvidia" | "amd" | "intel" | null;
  /** 0: as much as the node gives. */
  memoryMb: number;
  pricePerGpuHourCents: number;
};

const nvidia = (
  id: string,
  name: string,
  memoryMb: number,
  pricePerGpuHourCents: number,
): CatalogueModel => ({
  id,
  name,
  vendor: "nvidia",
  memoryMb,
  pricePerGpuHourCents,
});

export const GPU_CATALOGUE: readonly CatalogueModel[] = [
  { id: "cpu", name: "CPU slot", vendor: null, memoryMb: 0, pricePerGpuHourCents: 5 },
  nvidia("rtx_3090", "NVIDIA GeForce RTX 3090", 24_576, 35),
  nvidia("rtx_4090", "NVIDIA GeForce RTX 4090", 24_564, 60),
  nvidia("rtx_5090", "NVIDIA GeForce RTX 5090", 32_607, 90),
  nvidia("rtx_6000_ada", "NVIDIA RTX 6000 Ada Generation", 49_140, 100),
  nvidia("rtx_pro_6000", "NVIDIA RTX PRO 6000 Blackwell", 97_887, 180),
  nvidia("l4", "NVIDIA L4", 23_034, 50),
  nvidia("l40s", "NVIDIA L40S", 46_068, 110),
  nvidia("a10", "NVIDIA A10", 23_028, 60),
  nvidia("a40", "NVIDIA A40", 46_068, 70),
  nvidia("a100_40gb", "NVIDIA A100 40GB", 40_960, 120),
  nvidia("a100_80gb", "NVIDIA A100 80GB", 81_920, 160),
  nvidia("h100", "NVIDIA H100", 81_559, 250),
  nvidia("h200", "NVIDIA H200", 143_771, 350),
  nvidia("b200", "NVIDIA B200", 183_359, 550),
  {
    id: "mi300x",
    name: "AMD Instinct MI300X",
    vendor: "amd",
    memoryMb: 196_608,
    pricePerGpuHourCents: 300,
  },
  {
    id: "max_1550",
    name: "Intel Data Center GPU Max 1550",
    vendor: "intel",
    memoryMb: 131_072,
    pricePerGpuHourCents: 150,
  },
];

const BY_ID = new Map(GPU_CATALOGUE.map((model) => [model.id, model]));

export function catalogueModel(id: string): CatalogueModel | undefined {
  return BY_ID.get(id);
}
