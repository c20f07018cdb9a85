import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import type { World } from "./world.ts";

/** A federation of two sites that runs, its agent driven by the proof. */
export type LiveJob = {
  job: string;
  server: DesiredMember;
  client: DesiredMember;
  members: readonly DesiredMember[];
  agent: ScriptedAgent;
  [Symbol.dispose](): void;
};

/** It beats, so that its node is alive as long as the job is measured. */
export async function liveJob(world: World, node: string, slug: string): Promise<LiveJob> {
  const agent = await world.house.addNode(node, 2);
  await agent.beat([]);
  const job = await world.house.submit(world.owner, slug);
  const members = await agent.desiredOf(job, 3);
  await agent.bringUp(members);
  const [server, client] = [members[0]!, members[1]!];
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(server, { kind: "round-started", round: 1, numRounds: 3 });
  const beats = setInterval(() => void agent.beat(members).catch(() => undefined), 3_000);
  return {
    ...{ job, server, client, members, agent },
    [Symbol.dispose]: () => clearInterval(beats),
  };
}
