import { readFileSync } from "node:fs";
import { S3FrontConfig } from "@resontech/contracts/s3-front-config";
import { Default, Value } from "typebox/value";

/** The configuration is not what it must be; the front does not start. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "config_invalid";
}

/** @throws ConfigError naming the key that is wrong */
export function readConfig(file: string): S3FrontConfig {
  let raw: unknown;
  try {
    raw = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`, {
      cause: error,
    });
  }
  const config: unknown = Default(S3FrontConfig, raw);
  if (Value.Check(S3FrontConfig, config)) return config;
  const [first] = Value.Errors(S3FrontConfig, config);
  throw new ConfigError(`${file}: ${first?.instancePath || "/"} ${first?.message ?? "is wrong"}`);
}
