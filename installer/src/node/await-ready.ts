import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { NodeRegistered } from "@resontech/contracts/agent-protocol";
import type { NodeConfig } from "@resontech/contracts/node-config";
import { readRegistered } from "./read-registered.ts";

export const READY_WITHIN_MS = 120_000;
const LOG_LINES = 6;

/** The appliance did not answer the agent of this host. */
export class NotReadyError extends Error {
  readonly code = "node_not_ready";
  readonly hint =
    "see the lines of the agent's log above and run the same command again; `appliance node ls` on the appliance shows what it knows";
}

/**
 * Waits until the appliance has registered this node and answers its beats: each answer renews the lease in memory, so a lease that was renewed
 * since we began to wait is the appliance's own word that the node is ready.
 *
 * @returns what the node told of itself
 * @throws NotReadyError
 */
export async function awaitReady(
  root: string,
  { instance }: NodeConfig,
  limitMs: number = READY_WITHIN_MS,
): Promise<NodeRegistered> {
  const lease = join("/run/resontech", instance, "lease", "lease");
  for (const from = Date.now(); Date.now() - from < limitMs; await sleep(250)) {
    const renewedMs = statSync(lease, { throwIfNoEntry: false })?.mtimeMs ?? 0;
    const told = renewedMs < from ? null : readRegistered(root);
    if (told !== null) return told;
  }
  throw new NotReadyError(
    `the appliance has not answered this node for ${limitMs / 1000} s; the agent's log ends with:\n${logEnd(root)}`,
  );
}

function logEnd(root: string): string {
  try {
    return readFileSync(join(root, "log", "agent.log"), "utf8")
      .trimEnd()
      .split("\n")
      .slice(-LOG_LINES)
      .map((line) => `  ${line.slice(0, 400)}`)
      .join("\n");
  } catch {
    return "  (there is none)";
  }
}
