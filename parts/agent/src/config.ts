import { readFileSync } from "node:fs";
import { AgentConfig } from "@resontech/contracts/agent-config";
import { Value } from "typebox/value";

/** The configuration can't be used; the message names the file and the key. */
export class ConfigInvalidError extends Error {
  readonly code = "config_invalid";
}

/** @throws ConfigInvalidError */
export function loadConfig(file: string): AgentConfig {
  const value = Value.Default(AgentConfig, parse(file));
  if (Value.Check(AgentConfig, value)) {
    const { from, to } = value.jobPorts;
    if (from > to)
      throw new ConfigInvalidError(`${file}: /jobPorts from ${from} is above to ${to}`);
    const uids = value.jobUids;
    if (uids !== undefined && uids.from > uids.to)
      throw new ConfigInvalidError(`${file}: /jobUids from ${uids.from} is above to ${uids.to}`);
    return Object.freeze(value);
  }
  const first = Value.Errors(AgentConfig, value)[0];
  throw new ConfigInvalidError(
    `${file}: ${first?.instancePath || "/"} ${first?.message ?? "is no agent configuration"}`,
  );
}

function parse(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new ConfigInvalidError(
      `${file}: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
