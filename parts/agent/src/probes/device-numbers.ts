import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Type } from "typebox";
import { Value } from "typebox/value";
import { replaceFileNow } from "@resontech/frame/durable-file-now";

const Devices = Type.Array(Type.String());

/**
 * All devices that this node ever had, each at its number: these and those of them that are new. Durable when it returns.
 * @throws when the file is damaged: another order would give a member the device of another one
 */
export function knownDevices(dataDir: string, devices: readonly string[]): readonly string[] {
  const file = join(dataDir, "devices.json");
  const known = existsSync(file) ? read(file) : [];
  const all = [...new Set([...known, ...devices])];
  if (all.length > known.length) replaceFileNow(file, JSON.stringify(all), 0o600);
  return all;
}

function read(file: string): string[] {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new Error(`${file} can't be read`, { cause: error });
  }
  if (!Value.Check(Devices, value)) throw new Error(`${file} is no list of devices`);
  return value;
}
