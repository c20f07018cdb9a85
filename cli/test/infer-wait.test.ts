/** `infer deploy --wait` beside an appliance that is slow, restarts or goes away. */
import type { DeploymentReply } from "@resontech/contracts/http-inference";
import t from "tap";
import { CliError } from "../src/cli-error.ts";
import { waitUntilReady } from "../src/infer/wait-until-ready.ts";

type Answer = { status?: string; state?: string; waitingFor?: string } | { code: string };

/** Each answer once, the last one for ever. */
function appliance(answers: readonly Answer[]) {
  const left = [...answers];
  return async (): Promise<DeploymentReply> => {
    const told = left.length > 1 ? left.shift()! : left[0]!;
    if ("code" in told) throw new CliError(told.code, "it says so", "");
    const { status = "QUEUED", state = "QUEUED", waitingFor = null } = told;
    return { status, detail: { state, waitingFor } } as unknown as DeploymentReply;
  };
}
const fast = { lookMs: 1, patienceMs: 60_000 };

t.test("an answer that comes late, or not at all, does not end the wait", async (t) => {
  for (const code of [
    ...["unreachable", "answer_late", "answer_lost", "restarting", "overloaded", "internal_error"],
  ]) {
    const said: string[] = [];
    const find = appliance([
      { waitingFor: "needs 1 worker" },
      ...[{ code }, { code }],
      { status: "RUNNING", state: "RUNNING" },
    ]);
    t.equal(await waitUntilReady(find, (text) => said.push(text), fast), "RUNNING", code);
    t.match(said, ["waiting: needs 1 worker", /does not answer/]);
    t.equal(said.length, 2, "the same is said once");
  }
});

t.test("what no waiting mends ends it, and so does an appliance that stays away", async (t) => {
  const say = () => undefined;
  for (const code of ["not_found", "unauthenticated", "reply_invalid"])
    await t.rejects(waitUntilReady(appliance([{}, { code }]), say, fast), { code });
  const away = { lookMs: 1, patienceMs: 0 };
  await t.rejects(waitUntilReady(appliance([{}, { code: "unreachable" }]), say, away), {
    code: "unreachable",
  });
  t.equal(await waitUntilReady(appliance([{ state: "FAILED" }]), say, fast), "FAILED");
});
