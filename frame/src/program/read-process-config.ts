import { readFileSync } from "node:fs";
import type { TSchema } from "typebox";
import { Value } from "typebox/value";
import type { OwnPart } from "../part/define-part.ts";
import { type ProcessConfig, processConfigSchema } from "../part/process-config.ts";

/** The file is none that this program can run by. */
class ConfigInvalidError extends Error {
  override readonly name = "ConfigInvalidError";
  readonly code = "config_invalid";
}

/** @throws ConfigInvalidError that names the member at fault */
export function readProcessConfig<Config extends TSchema>(
  part: OwnPart<Config>,
  file: string,
): ProcessConfig<Config> {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new ConfigInvalidError(
      `${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { cause },
    );
  }
  const [fault] = Value.Errors(processConfigSchema(part), value);
  if (fault !== undefined)
    throw new ConfigInvalidError(`${file}: ${fault.instancePath || "it"} ${fault.message}`);
  return value as ProcessConfig<Config>;
}
