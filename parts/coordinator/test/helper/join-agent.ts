import type { JoinReply } from "@resontech/contracts/agent-protocol";
import { ScriptedAgent } from "../kernel/scripted-agent.ts";
import type { RunningCoordinator } from "./running-coordinator.ts";

/** A node that joined the running coordinator as every node does, and has so many CPU workers, and beats. The caller closes its agent. */
export async function joinAgent(
  running: RunningCoordinator,
  node: string,
  workers: number,
): Promise<ScriptedAgent> {
  const made = await running.control("join-token", { node, ttlS: 600 });
  const join = async (request: object) => {
    const { body } = await running.request("POST", "/api/nodes/join", undefined, request);
    return body as unknown as JoinReply;
  };
  const agent = await ScriptedAgent.join(node, made.token, { join }, running.config.nats.url);
  await agent.register(workers);
  agent.keepBeating();
  return agent;
}
