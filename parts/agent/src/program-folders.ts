import type { AgentConfig } from "@resontech/contracts/agent-config";

/** Where the system's programs are: a supervisor may start us without their folders. */
const SYSTEM_PATH = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/** Lists where the agent's programs are looked for; those that a release brings come first. */
export function programFolders({ toolsDir }: Pick<AgentConfig, "toolsDir">): string[] {
  return [...(toolsDir === undefined ? [] : [toolsDir]), ...SYSTEM_PATH];
}
