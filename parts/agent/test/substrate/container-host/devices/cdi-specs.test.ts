import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { unnamedDevices } from "../../../../src/substrate/container-host/devices/cdi-specs.ts";

const [a, b] = [
  "GPU-aaaaaaaa-0000-4000-8000-000000000000",
  "MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f",
];
/** As `nvidia-ctk cdi generate --device-name-strategy=uuid` begins it. */
const yaml = (name: string) => `---
cdiVersion: 0.5.0
containerEdits:
  env:
  - NVIDIA_VISIBLE_DEVICES=void
devices:
- containerEdits:
    deviceNodes:
    - path: /dev/nvidia0
  name: ${name}
kind: nvidia.com/gpu
`;

t.test("a device is named by a specification of its kind, in either language", (t) => {
  const dir = t.testdir({ "nvidia.yaml": yaml(a), sub: {} });
  t.strictSame(unnamedDevices([a, b], [dir, `${dir}/none`]), [b]);
  const json = JSON.stringify({ kind: "nvidia.com/gpu", devices: [{ name: b }] });
  const both = t.testdir({ "nvidia.yaml": yaml(a), "mig.json": json });
  t.strictSame(unnamedDevices([a, b], [both]), []);
  t.end();
});

t.test(
  "the specification that NVIDIA's tool made on a machine of ours names its one device",
  (t) => {
    const text = readFileSync(join(import.meta.dirname, "fixtures", "h100-cdi.yaml"), "utf8");
    const dir = t.testdir({ "nvidia.yaml": text });
    t.strictSame(unnamedDevices(["GPU-a8a34d1d-b987-5e80-e481-f4cf740f7c64", a], [dir]), [a]);
    t.end();
  },
);

t.test("an index, another vendor's file or another file name no device", (t) => {
  const folders: Record<string, string>[] = [
    { "nvidia.yaml": yaml("0") },
    { "nvidia.yaml": yaml(a).replace("nvidia.com/gpu", "example.com/gpu") },
    { "nvidia.txt": yaml(a) },
    {},
  ];
  for (const files of folders)
    t.strictSame(unnamedDevices([a], [t.testdir(files)]), [a], Object.keys(files).join());
  t.strictSame(unnamedDevices([], ["/nonexistent"]), []);
  t.end();
});
