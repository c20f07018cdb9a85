/** `--config FILE` in three steps: read, validate into one frozen object, then its secrets apart, which are never logged. */
import { readFileSync } from "node:fs";
import { CoordinatorConfig } from "@resontech/contracts/coordinator-config";
import { type Static, type TSchema, Type } from "typebox";
import { Value } from "typebox/value";
import type { S3Credentials } from "./storage/s3-transport.ts";

/** A file of the configuration is missing or wrong; names the file and the key, never a value. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly code = "config_invalid";
  readonly file: string;

  constructor(file: string, message: string, options?: ErrorOptions) {
    super(`${file}: ${message}`, options);
    this.file = file;
  }
}

export type Secrets = {
  s3Admin: S3Credentials;
  registryToken: { keyPem: string; certPem: string };
};

const S3AdminKey = Type.Object(
  { accessKeyId: Type.String({ minLength: 1 }), secretAccessKey: Type.String({ minLength: 1 }) },
  { additionalProperties: false },
);

/** @throws ConfigError */
export function readConfig(file: string): Readonly<CoordinatorConfig> {
  const config = readChecked(file, CoordinatorConfig);
  const profiles = config.images.map(({ profile }) => profile);
  if (new Set(profiles).size !== profiles.length)
    throw new ConfigError(file, "images names a profile twice");
  return Object.freeze(config);
}

/** @throws ConfigError */
export function readSecrets(config: CoordinatorConfig): Secrets {
  return {
    s3Admin: readChecked(config.s3.adminKeyFile, S3AdminKey),
    registryToken: {
      keyPem: readText(config.registry.tokenKeyFile),
      certPem: readText(config.registry.tokenCertFile),
    },
  };
}

/** @throws ConfigError */
export function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new ConfigError(file, "can't be read", { cause: error });
  }
}

function readChecked<T extends TSchema>(file: string, schema: T): Static<T> {
  let value: unknown;
  try {
    value = JSON.parse(readText(file));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError(file, "is not JSON");
  }
  const [fault] = Value.Errors(schema, value);
  if (fault === undefined) return Value.Default(schema, value) as Static<T>;
  throw new ConfigError(
    file,
    `${fault.instancePath === "" ? "the whole" : fault.instancePath.slice(1).replaceAll("/", ".")} ${fault.message}`,
  );
}
