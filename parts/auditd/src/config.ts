import { readFile } from "node:fs/promises";
import { AuditdConfig } from "@resontech/contracts/auditd-config";
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";

/** The configuration, or the key, is not what it must be; auditd does not start. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "config_invalid";
}

const validator = Compile(AuditdConfig);

/** @throws {@link ConfigError} naming the key that is wrong */
export async function loadConfig(file: string): Promise<AuditdConfig> {
  let raw: unknown;
  try {
    raw = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const config: unknown = Default(AuditdConfig, raw);
  if (!validator.Check(config)) {
    const [first] = validator.Errors(config);
    const what = first?.keyword === "boolean" ? "is not known" : (first?.message ?? "is wrong");
    throw new ConfigError(`${file}: ${first?.instancePath || "/"} ${what}`);
  }
  for (const key of ["name", "socket"] as const) {
    const values = config.producers.map((producer) => producer[key]);
    if (new Set(values).size !== values.length)
      throw new ConfigError(`${file}: /producers: two have one ${key}`);
  }
  if (config.producers.some(({ name }) => name === "auditd"))
    throw new ConfigError(`${file}: /producers: "auditd" is its own name`);
  return config;
}
