/** What nodes tell of members whose jobs end: word for word as runners said it where that was recorded, else by the agent's own decisions. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { evaluateEnd, type Verdict } from "@resontech/agent/container-end";
import { type DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import { MODEL_CHECKPOINT } from "@resontech/contracts/model-output";
import { CLEAN, type ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import { untilFound } from "@resontech/house/until-found";
import { Value } from "typebox/value";

export type Members = readonly DesiredMember[];
type RunnerLine = { t: string; kind: string } & Record<string, unknown>;
type Recorded = Record<string, { exitCode: number | null; events: RunnerLine[] }>;

const KILLED = 137;
const ROUNDS = 3;
const RECORDED = JSON.parse(
  readFileSync(join(import.meta.dirname, "recorded-failures.json"), "utf8"),
) as Record<string, Recorded>;

/** What the server's runner of a real job said in its life, and how that ended. */
export async function replay(agent: ScriptedAgent, members: Members, name: string): Promise<void> {
  const { events, exitCode } = RECORDED[name]!["server"]!;
  const [server] = members;
  await agent.bringUp(members);
  for (const { t: _, ...event } of events)
    if (event.kind !== "ready" && event.kind !== "failed" && Value.Check(MemberEvent, event))
      await agent.report(server!, event);
  const last = events.find(({ kind }) => kind === "failed") as Verdict | undefined;
  await fail(agent, server!, exitCode ?? KILLED, last ?? null);
  await letGo(agent, members);
}

/** Training goes on in its first round. */
export async function begin(agent: ScriptedAgent, members: Members): Promise<void> {
  const [server] = members;
  await agent.bringUp(members);
  await agent.report(server!, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(server!, { kind: "round-started", round: 0, numRounds: ROUNDS });
}

/** Trains to the end, and leaves a model. */
export async function finish(agent: ScriptedAgent, members: Members): Promise<void> {
  const [server] = members;
  await begin(agent, members);
  for (let round = 0; round < ROUNDS; round += 1) {
    if (round > 0) await agent.report(server!, { kind: "round-started", round, numRounds: ROUNDS });
    const sites = ["site-1", "site-2"];
    await agent.report(server!, { kind: "round-ended", round, sites, isFinite: true });
  }
  await leaveModel(agent, members);
}

/** All are done, and the server leaves its model. */
export async function leaveModel(agent: ScriptedAgent, members: Members): Promise<void> {
  const [server] = members;
  await agent.upload(server!, MODEL_CHECKPOINT, "a model");
  for (const member of members) await agent.report(member, { kind: "finished", exitCode: 0 });
  for (const member of members)
    await agent.report(member, {
      kind: "outputs-uploaded",
      keys: member === server ? [MODEL_CHECKPOINT] : [],
    });
  for (const member of members) await agent.report(member, CLEAN);
}

/** The end of a container, judged as the agent judges it. */
export async function fail(
  agent: ScriptedAgent,
  member: DesiredMember,
  exitCode: number,
  verdict: Verdict | null,
): Promise<void> {
  const failure = evaluateEnd({
    ...{ exitCode, oomKilled: exitCode === KILLED, verdict, printed: null, isDiskFull: false },
    limits: member.resources,
  });
  if (failure === null) throw new Error("a member that did all it had to does not fail");
  await agent.report(member, { kind: "failed", ...failure, exitCode });
}

/** Once all are asked to stop, nothing of them is left. */
export async function letGo(agent: ScriptedAgent, members: Members): Promise<void> {
  await untilFound("members that are asked to stop", async () => {
    const desired = new Map((await agent.desired()).map((one) => [one.member, one.desired]));
    return members.every(({ member }) => desired.get(member) !== "run");
  });
  for (const member of members) await agent.report(member, CLEAN);
}
