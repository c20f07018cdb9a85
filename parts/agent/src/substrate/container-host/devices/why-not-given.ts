import { existsSync } from "node:fs";
import type { InventoryWorker } from "@resontech/contracts/agent-protocol";
import { unnamedDevices } from "./cdi-specs.ts";
import { deviceFilesOf } from "./device-files.ts";

const CDI_HINT =
  "run `nvidia-ctk cdi generate --device-name-strategy=uuid --output=/etc/cdi/nvidia.yaml`";

/** Why the container engine could not hand out all of these devices, and what to do; null when it can. */
export function whyNotGiven(
  engine: "podman" | "docker",
  workers: readonly InventoryWorker[],
): string | null {
  const nvidia = workers.filter(({ vendor }) => vendor === "nvidia");
  const unnamed =
    engine === "podman" ? unnamedDevices(nvidia.flatMap(({ device }) => device ?? [])) : [];
  if (unnamed.length > 0)
    return `no CDI specification in /etc/cdi or /var/run/cdi names ${unnamed.join(", ")}: ${CDI_HINT}`;
  const missing = workers.flatMap(deviceFilesOf).filter((path) => !existsSync(path));
  return missing.length === 0 ? null : `there is no ${[...new Set(missing)].join(", no ")}`;
}
