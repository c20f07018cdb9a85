/** Two NVIDIA devices that are none, for a host that lives in a folder: a stand-in for the vendor's tool, and a CDI specification. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository } from "@resontech/house/local-appliance";

/** One answer of the real tool; name, bus and id are changed. */
const RECORDED = join(repository, "parts", "agent", "test", "probes", "fixtures", "tesla-t4.xml");

export type PretendedGpu = { name: string; computeCapability: string };

/** @param root folder that is the root of the host's file system */
export function putPretendedGpus(
  root: string,
  driver: string,
  gpus: readonly PretendedGpu[],
): void {
  const recorded = /<gpu id=[\s\S]*<\/gpu>/.exec(readFileSync(RECORDED, "utf8"))?.[0] ?? "";
  const idle = recorded.replace(/<process_info>[\s\S]*<\/process_info>/, "");
  const listed = gpus.map(({ name }, index) =>
    idle
      .replace(/<product_name>.*<\/product_name>/, `<product_name>${name}</product_name>`)
      .replace(/<uuid>.*<\/uuid>/, `<uuid>${uuidOf(index)}</uuid>`)
      .replace(/<pci_bus_id>.*<\/pci_bus_id>/, `<pci_bus_id>00000000:3${index}:00.0</pci_bus_id>`),
  );
  const answers = join(root, "pretended");
  for (const folder of [answers, join(root, "usr/local/sbin"), join(root, "etc/cdi")])
    mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(answers, "answer.xml"),
    `<nvidia_smi_log><driver_version>${driver}</driver_version><attached_gpus>${gpus.length}</attached_gpus>${listed.join("")}</nvidia_smi_log>`,
  );
  writeFileSync(
    join(answers, "capabilities.csv"),
    gpus.map(({ computeCapability }, index) => `${uuidOf(index)}, ${computeCapability}\n`).join(""),
  );
  const tool = [
    "#!/bin/sh",
    'case "$1" in',
    "-q) exec cat /pretended/answer.xml;;",
    "--query-gpu=uuid,compute_cap) exec cat /pretended/capabilities.csv;;",
    "*) exit 2;;",
    "esac",
  ];
  writeFileSync(join(root, "usr/local/sbin/nvidia-smi"), `${tool.join("\n")}\n`, { mode: 0o755 });
  const specification = {
    cdiVersion: "0.5.0",
    kind: "nvidia.com/gpu",
    devices: gpus.map((_, index) => ({
      name: uuidOf(index),
      containerEdits: {
        deviceNodes: [
          {
            ...{ path: `/dev/pretended${index}`, hostPath: "/dev/null" },
            ...{ type: "c", major: 1, minor: 3, permissions: "rw" },
          },
        ],
        env: [`PRETENDED_DEVICE=${index}`],
      },
    })),
  };
  writeFileSync(join(root, "etc/cdi/pretended.json"), JSON.stringify(specification));
}

export function uuidOf(index: number): string {
  return `GPU-${String(index).repeat(8)}-0000-4000-8000-${"0".repeat(12)}`;
}
