import { readFile, stat } from "node:fs/promises";
import { VaultConfig } from "@resontech/contracts/vault-config";
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";

/** The configuration, or a folder that it names, is not what it must be; nothing starts. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "config_invalid";
}

const GROUP_AND_OTHERS = 0o077;
const validator = Compile(VaultConfig);

/** @throws {@link ConfigError} naming the key that is wrong, or the folder that is open to others */
export async function loadConfig(file: string): Promise<VaultConfig> {
  let raw: unknown;
  try {
    raw = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    throw new ConfigError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
  const config: unknown = Default(VaultConfig, raw);
  if (!validator.Check(config)) {
    const [first] = validator.Errors(config);
    const what = first?.keyword === "boolean" ? "is not known" : (first?.message ?? "is wrong");
    throw new ConfigError(`${file}: ${first?.instancePath || "/"} ${what}`);
  }
  if (config.epochLifeMs < config.epochMs)
    throw new ConfigError(`${file}: /epochLifeMs: an epoch key ends before the next one begins`);
  if (config.token !== undefined && config.tpm !== undefined)
    throw new ConfigError(
      `${file}: /token: the key file is sealed by the token or by the TPM, not by both`,
    );
  for (const key of ["dataDir", "keysDir", "epochsDir", "backupsDir"] as const) {
    const { mode } = await stat(config[key]).catch(() => {
      throw new ConfigError(`${file}: /${key}: there is no ${config[key]}`);
    });
    if ((mode & GROUP_AND_OTHERS) !== 0)
      throw new ConfigError(`${config[key]} is open to others: its mode must be 0700`);
  }
  return config;
}
