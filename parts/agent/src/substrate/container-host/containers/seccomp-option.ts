import { join } from "node:path";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import { replaceFileNow } from "@resontech/frame/durable-file-now";
import { seccompProfile } from "../decisions/seccomp-profile.ts";

/** The profile as the engine takes it: Docker's API its text, Podman's the path of a file on the engine's host, written here. */
export function seccompOption({
  containerEngine,
  dataDir,
}: Pick<AgentConfig, "containerEngine" | "dataDir">): string {
  const text = JSON.stringify(seccompProfile());
  if (containerEngine.kind === "docker") return text;
  const file = join(dataDir, "seccomp.json");
  replaceFileNow(file, text, 0o600);
  return file;
}
