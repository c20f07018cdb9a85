import { existsSync, readFileSync } from "node:fs";
import { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { Value } from "typebox/value";

/** The appliance can't go on with the configuration it was given; `message` names the file and the key. */
export class ConfigInvalidError extends Error {
  readonly code = "config_invalid";
}

/** Reads `<root>/etc/appliance.json`. @throws ConfigInvalidError naming the key */
export function loadConfig(file: string): ApplianceConfig {
  let value: unknown;
  if (!existsSync(file))
    throw new ConfigInvalidError(
      `no appliance is installed here: ${file} is missing; --root must name the folder that the install said, like /opt/resontech`,
    );
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigInvalidError(`${file} can't be read: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  if (!Value.Check(ApplianceConfig, value)) {
    const first = Value.Errors(ApplianceConfig, value)[0];
    throw new ConfigInvalidError(`${file}: ${first?.instancePath || "/"} ${first?.message ?? "is not a configuration"}`);
  }
  return value;
}
