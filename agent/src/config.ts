import { readFileSync } from "node:fs";
import { AgentConfig } from "@resontech/contracts/agent-config";
import { Value } from "typebox/value";

/** The configuration can't be used; `message` names the file and the key. */
export class ConfigInvalidError extends Error {
  readonly code = "config_invalid";
}

export function loadConfig(file: string): AgentConfig {
  const value: unknown = JSON.parse(readFileSync(file, "utf8"));
  if (Value.Check(AgentConfig, value)) return value;
  const first = Value.Errors(AgentConfig, value)[0];
  throw new ConfigInvalidError(`${file}: ${first?.instancePath || "/"} ${first?.message ?? "is no agent configuration"}`);
}
