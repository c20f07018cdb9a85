import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { RunnerSpec } from "@resontech/contracts/runner";

/** What the runner of a federation's member is told, as its agent writes it down unread. */
export function runnerSpecOf({ payload }: DesiredMember): RunnerSpec {
  const spec = payload.files.find(({ name }) => name === "spec.json");
  if (spec === undefined) throw new Error("this member is told nothing of a federation");
  return JSON.parse(spec.text) as RunnerSpec;
}

export function isServer(member: DesiredMember): boolean {
  return runnerSpecOf(member).role === "server";
}
