import { GPU_CATALOGUE } from "@resontech/contracts/gpu-catalogue";
import t from "tap";
import { catalogueId } from "../../src/decisions/catalogue-id.ts";

t.test("NVIDIA's product names lead to catalogue ids", (t) => {
  for (const [name, id] of [
    ["NVIDIA GeForce GTX 1080 Ti", "gtx_1080_ti"],
    ["GeForce GTX 1080 Ti", "gtx_1080_ti"],
    ["Tesla P40", "p40"],
    ["Tesla P100-PCIE-16GB", "p100"],
    ["Tesla P100-SXM2-16GB", "p100"],
    ["Tesla P100-PCIE-12GB", "p100_12gb"],
    ["Tesla V100-SXM2-16GB", "v100_16gb"],
    ["Tesla V100-PCIE-32GB", "v100_32gb"],
    ["Tesla V100-SXM3-32GB", "v100_32gb"],
    ["Tesla V100-DGXS-32GB", "v100_32gb"],
    ["Tesla T4", "t4"],
    ["NVIDIA GeForce RTX 2080 Ti", "rtx_2080_ti"],
    ["Quadro RTX 6000", "rtx_6000"],
    ["Quadro RTX 8000", "rtx_8000"],
    ["NVIDIA GeForce RTX 3080", "rtx_3080"],
    ["NVIDIA GeForce RTX 3080 Ti", "rtx_3080_ti"],
    ["NVIDIA GeForce RTX 4080", "rtx_4080"],
    ["NVIDIA GeForce RTX 4080 SUPER", "rtx_4080"],
    ["NVIDIA GeForce RTX 4090", "rtx_4090"],
    ["NVIDIA GeForce RTX 5090", "rtx_5090"],
    ["NVIDIA RTX A5000", "rtx_a5000"],
    ["NVIDIA RTX A6000", "rtx_a6000"],
    ["NVIDIA RTX 6000 Ada Generation", "rtx_6000_ada"],
    ["NVIDIA RTX PRO 6000 Blackwell Server Edition", "rtx_pro_6000"],
    ["NVIDIA L40", "l40"],
    ["NVIDIA L40S", "l40s"],
    ["NVIDIA L4", "l4"],
    ["NVIDIA A10", "a10"],
    ["NVIDIA A10G", "a10g"],
    ["NVIDIA A30", "a30"],
    ["NVIDIA A40", "a40"],
    ["NVIDIA A100-SXM4-80GB", "a100_80gb"],
    ["NVIDIA A100 80GB PCIe", "a100_80gb"],
    ["NVIDIA A100-PCIE-40GB", "a100_40gb"],
    ["A100-SXM4-40GB", "a100_40gb"],
    ["NVIDIA H100 80GB HBM3", "h100"],
    ["NVIDIA H100 PCIe", "h100"],
    ["NVIDIA H200", "h200"],
    ["NVIDIA GH200 480GB", "gh200"],
    ["NVIDIA B200", "b200"],
    ["NVIDIA B300 SXM6 AC", "b300"],
    ["NVIDIA", "nvidia_gpu"],
  ] as const)
    t.equal(catalogueId(name), id, name);
  t.end();
});

t.test("a chip of a laptop is not sold as the desktop card of its name", (t) => {
  t.equal(catalogueId("NVIDIA GeForce RTX 3080 Laptop GPU"), "rtx_3080_laptop_gpu");
  t.equal(catalogueId("NVIDIA GeForce GTX 1080 with Max-Q Design"), "gtx_1080_with_max_q_design");
  t.end();
});

t.test("names of AMD and Intel lead to theirs", (t) => {
  for (const [vendor, name, id] of [
    ["amd", "AMD Instinct MI300X", "mi300x"],
    ["amd", "AMD Instinct MI300X OAM", "mi300x"],
    ["amd", "AMD INSTINCT MI250X/MI250", "mi250x"],
    ["amd", "AMD Radeon RX 7900 XTX", "rx_7900_xtx"],
    ["amd", "Advanced Micro Devices", "advanced_micro_devices"],
    ["amd", "AMD", "amd_gpu"],
    ["intel", "Intel(R) Data Center GPU Max 1550", "max_1550"],
    ["intel", "Intel(R) Data Center GPU Flex 170", "flex_170"],
    ["intel", "Intel(R) Arc(TM) Pro B70 Graphics", "arc_pro_b70"],
    ["intel", "Intel(R) Graphics [0x020a]", "0x020a"],
  ] as const)
    t.equal(catalogueId(name, vendor), id, name);
  t.equal(catalogueId("Max 1550", "nvidia"), "max_1550", "of no vendor but its own");
  t.end();
});

t.test("each model of the catalogue is found by its own name", (t) => {
  for (const { id, name, vendor } of GPU_CATALOGUE)
    if (vendor !== null) t.equal(catalogueId(name, vendor), id, name);
  t.end();
});
