import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/** Where engines look for specifications; of one device named in both, the second counts. */
const FOLDERS = ["/etc/cdi", "/var/run/cdi"];
const IS_SPEC = /\.(json|yaml|yml)$/;
const KIND = "nvidia.com/gpu";

/** The name that a container engine knows a device by. */
export const cdiName = (device: string): string => `${KIND}=${device}`;

/**
 * Which of these devices no CDI specification names; each is then told of when a container is made, too late. Only whether a name stands
 * there is asked: the engine reads the file.
 */
export function unnamedDevices(
  devices: readonly string[],
  folders: readonly string[] = FOLDERS,
): string[] {
  if (devices.length === 0) return [];
  const named = new Set(folders.flatMap((folder) => specsIn(folder).flatMap(namesIn)));
  return devices.filter((device) => !named.has(device));
}

function namesIn(text: string): string[] {
  if (!new RegExp(`["']?kind["']?\\s*:\\s*["']?${KIND}["']?\\s*(,|$)`, "m").test(text)) return [];
  return [...text.matchAll(/["']?name["']?\s*:\s*["']?([A-Za-z0-9][A-Za-z0-9_.:-]*)/g)].map(
    ([, name]) => name!,
  );
}

function specsIn(folder: string): string[] {
  try {
    return readdirSync(folder)
      .filter((name) => IS_SPEC.test(name))
      .map((name) => readFileSync(join(folder, name), "utf8"));
  } catch {
    return [];
  }
}
