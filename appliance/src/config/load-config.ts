import { existsSync, readFileSync } from "node:fs";
import { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { readable, reader, unknownFields } from "@resontech/contracts/readable";
import { Value } from "typebox/value";

const readConfig = reader(ApplianceConfig);

/** The appliance can't go on with the configuration it was given; `message` names the file and the key. */
export class ConfigInvalidError extends Error {
  readonly code = "config_invalid";
}

/**
 * Reads `<root>/etc/appliance.json`. A key that a newer release wrote is passed over, and stays in the file.
 * @param onUnknown is told of such keys: they may as well be misspelt
 * @throws ConfigInvalidError naming the key
 */
export function loadConfig(
  file: string,
  onUnknown: (keys: readonly string[]) => void = () => {},
): ApplianceConfig {
  let value: unknown;
  if (!existsSync(file))
    throw new ConfigInvalidError(
      `no appliance is installed here: ${file} is missing; --root must name the folder that the install said, like /opt/resontech`,
    );
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigInvalidError(
      `${file} can't be read: ${error instanceof Error ? error.message : String(error)}`,
      {
        cause: error,
      },
    );
  }
  const config = readConfig(value);
  if (config === null) {
    const first = Value.Errors(readable(ApplianceConfig), value)[0];
    throw new ConfigInvalidError(
      `${file}: ${first?.instancePath || "/"} ${first?.message ?? "is not a configuration"}`,
    );
  }
  const unknown = unknownFields(ApplianceConfig, value as object);
  if (unknown.length > 0) onUnknown(unknown);
  return config;
}
