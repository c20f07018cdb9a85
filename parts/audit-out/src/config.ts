import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { AuditOutConfig } from "@resontech/contracts/audit-out-config";
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";

/** The configuration, or a file that it names, is not what it must be; nothing starts. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "config_invalid";
}

const MAX_FILE_BYTES = 1_048_576;
const ROOT_UID = 0;
const validator = Compile(AuditOutConfig);

/**
 * Reads where the log goes. Whoever can write this file can send the log anywhere, so it must be root's alone: what one can set over an API, an
 * attacker can set too.
 * @throws {@link ConfigError} naming the key that is wrong
 */
export async function loadConfig(file: string): Promise<AuditOutConfig> {
  let raw: unknown;
  try {
    const { text, uid, mode } = await readOwned(file);
    if (uid !== ROOT_UID || (mode & 0o022) !== 0)
      throw new Error("must be root's, and nobody else may write it");
    raw = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${file}: ${messageOf(error)}`);
  }
  const config: unknown = Default(AuditOutConfig, raw);
  if (!validator.Check(config)) {
    const [first] = validator.Errors(config);
    const what = first?.keyword === "boolean" ? "is not known" : (first?.message ?? "is wrong");
    throw new ConfigError(`${file}: ${first?.instancePath || "/"} ${what}`);
  }
  const names = config.sinks.map(({ name }) => name);
  if (new Set(names).size !== names.length)
    throw new ConfigError(`${file}: /sinks: two have one name`);
  return config;
}

/** A file with a secret. @throws {@link ConfigError} when others may read it */
export async function readSecret(file: string): Promise<string> {
  try {
    const { text, mode } = await readOwned(file);
    if ((mode & 0o077) !== 0) throw new Error("is open to others: its mode must be 0400");
    return text;
  } catch (error) {
    throw new ConfigError(`${file}: ${messageOf(error)}`);
  }
}

async function readOwned(file: string): Promise<{ text: string; uid: number; mode: number }> {
  const handle = await open(file, constants.O_RDONLY);
  try {
    const { uid, mode, size } = await handle.stat();
    if (size > MAX_FILE_BYTES) throw new Error(`is longer than ${MAX_FILE_BYTES} bytes`);
    return { text: await handle.readFile("utf8"), uid, mode };
  } finally {
    await handle.close();
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
