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

const models =
  (vendor: CatalogueModel["vendor"]) =>
  (id: string, name: string, memoryMb: number, pricePerGpuHourCents: number): CatalogueModel => ({
    id,
    name,
    vendor,
    memoryMb,
    pricePerGpuHourCents,
  });
const nvidia = models("nvidia");
const amd = models("amd");
const intel = models("intel");

export const GPU_CATALOGUE: readonly CatalogueModel[] = [
  { id: "cpu", name: "CPU slot", vendor: null, memoryMb: 0, pricePerGpuHourCents: 5 },
  nvidia("gtx_1080_ti", "NVIDIA GeForce GTX 1080 Ti", 11_264, 12),
  nvidia("p40", "NVIDIA Tesla P40", 24_576, 20),
  nvidia("p100_12gb", "NVIDIA Tesla P100 12GB", 12_288, 18),
  nvidia("p100", "NVIDIA Tesla P100 16GB", 16_384, 20),
  nvidia("v100_16gb", "NVIDIA Tesla V100 16GB", 16_384, 35),
  nvidia("v100_32gb", "NVIDIA Tesla V100 32GB", 32_768, 45),
  nvidia("t4", "NVIDIA T4", 15_360, 30),
  nvidia("rtx_2080_ti", "NVIDIA GeForce RTX 2080 Ti", 11_264, 20),
  nvidia("rtx_6000", "NVIDIA Quadro RTX 6000", 24_576, 40),
  nvidia("rtx_8000", "NVIDIA Quadro RTX 8000", 49_152, 50),
  nvidia("rtx_3080", "NVIDIA GeForce RTX 3080", 10_240, 25),
  nvidia("rtx_3080_ti", "NVIDIA GeForce RTX 3080 Ti", 12_288, 28),
  nvidia("rtx_3090", "NVIDIA GeForce RTX 3090", 24_576, 35),
  nvidia("rtx_4080", "NVIDIA GeForce RTX 4080", 16_376, 45),
  nvidia("rtx_4090", "NVIDIA GeForce RTX 4090", 24_564, 60),
  nvidia("rtx_5090", "NVIDIA GeForce RTX 5090", 32_607, 90),
  nvidia("rtx_6000_ada", "NVIDIA RTX 6000 Ada Generation", 49_140, 100),
  nvidia("rtx_pro_6000", "NVIDIA RTX PRO 6000 Blackwell", 97_887, 180),
  nvidia("l4", "NVIDIA L4", 23_034, 50),
  nvidia("l40", "NVIDIA L40", 46_068, 90),
  nvidia("l40s", "NVIDIA L40S", 46_068, 110),
  nvidia("a10", "NVIDIA A10", 23_028, 60),
  nvidia("a10g", "NVIDIA A10G", 23_028, 60),
  nvidia("a30", "NVIDIA A30", 24_576, 70),
  nvidia("rtx_a5000", "NVIDIA RTX A5000", 24_564, 45),
  nvidia("rtx_a6000", "NVIDIA RTX A6000", 49_140, 65),
  nvidia("a40", "NVIDIA A40", 46_068, 70),
  nvidia("a100_40gb", "NVIDIA A100 40GB", 40_960, 120),
  nvidia("a100_80gb", "NVIDIA A100 80GB", 81_920, 160),
  nvidia("h100", "NVIDIA H100", 81_559, 250),
  nvidia("h200", "NVIDIA H200", 143_771, 350),
  nvidia("gh200", "NVIDIA GH200", 97_871, 300),
  nvidia("b200", "NVIDIA B200", 183_359, 550),
  nvidia("b300", "NVIDIA B300", 275_040, 700),
  amd("mi210", "AMD Instinct MI210", 65_536, 110),
  amd("mi250x", "AMD Instinct MI250X", 65_536, 120),
  amd("mi300x", "AMD Instinct MI300X", 196_608, 300),
  amd("mi325x", "AMD Instinct MI325X", 262_144, 350),
  intel("flex_170", "Intel Data Center GPU Flex 170", 16_384, 40),
  intel("max_1100", "Intel Data Center GPU Max 1100", 49_152, 90),
  intel("max_1550", "Intel Data Center GPU Max 1550", 131_072, 150),
];

const BY_ID = new Map(GPU_CATALOGUE.map((model) => [model.id, model]));

export function catalogueModel(id: string): CatalogueModel | undefined {
  return BY_ID.get(id);
}
