import t from "tap";
import { type DeviceFacts, type ImageNeeds, whyUnfit } from "../../src/image/image-needs.ts";

const CUDA_12: ImageNeeds = {
  vendor: "nvidia",
  leastDriver: "525.60.13",
  architectures: ["6.0", "7.0", "7.5", "8.0", "8.6", "9.0"],
};
const ROCM: ImageNeeds = { vendor: "amd", leastDriver: "6.2", architectures: ["gfx942"] };

const nvidia = (driver: string | undefined, architecture: string | undefined): DeviceFacts => ({
  kind: "gpu",
  vendor: "nvidia",
  driver,
  architecture,
});

const rows: [what: string, needs: ImageNeeds | null, device: DeviceFacts, why: RegExp | null][] = [
  ["a processor and an image for processors", null, { kind: "cpu" }, null],
  ["a device and an image for processors", null, nvidia("580.1", "8.6"), /accelerators/],
  ["a processor and an image for devices", CUDA_12, { kind: "cpu" }, /without an accelerator/],
  ["a device of another vendor", ROCM, nvidia("580.1", "8.6"), /not of amd/],
  ["the least driver itself", CUDA_12, nvidia("525.60.13", "7.0"), null],
  [
    "a driver just below the least",
    CUDA_12,
    nvidia("525.60.12", "7.0"),
    /driver 525\.60\.12 is older than 525\.60\.13/,
  ],
  ["a driver with fewer parts than the least", CUDA_12, nvidia("525.60", "7.0"), /older/],
  [
    "a driver that counts further, not later in the alphabet",
    CUDA_12,
    nvidia("1000.1", "7.0"),
    null,
  ],
  ["a device that the image was built for", CUDA_12, nvidia("580.95.05", "8.6"), null],
  [
    "a later minor of a built major (Ada with code for Ampere)",
    CUDA_12,
    nvidia("580.1", "8.9"),
    null,
  ],
  ["an earlier minor than any built (Maxwell)", CUDA_12, nvidia("525.105.17", "5.2"), /5\.2/],
  [
    "an earlier minor of a built major",
    { ...CUDA_12, architectures: ["6.1"] },
    nvidia("580.1", "6.0"),
    /6\.0/,
  ],
  ["a later major than any built (Blackwell)", CUDA_12, nvidia("580.95.05", "12.0"), /12\.0/],
  ["a device without a driver's version", CUDA_12, nvidia(undefined, "8.6"), /driver is unknown/],
  [
    "a device without an architecture",
    CUDA_12,
    nvidia("580.1", undefined),
    /architecture is unknown/,
  ],
  [
    "names of another vendor are equal or not",
    ROCM,
    { kind: "gpu", vendor: "amd", driver: "6.4.1", architecture: "gfx942" },
    null,
  ],
  [
    "another name of that vendor",
    ROCM,
    { kind: "gpu", vendor: "amd", driver: "6.4.1", architecture: "gfx90a" },
    /gfx90a/,
  ],
];

for (const [what, needs, device, why] of rows)
  t.test(what, async (t) => {
    const answer = whyUnfit(needs, device);
    if (why === null) t.equal(answer, null);
    else t.match(answer, why);
  });
