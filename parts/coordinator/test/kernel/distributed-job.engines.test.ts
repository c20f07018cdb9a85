/** A training of several ranks by the rows: a killed rank ends the attempt, and the next one's meeting point has the committed step. */
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import type { DistributedSpec } from "@resontech/contracts/distributed-spec";
import t from "tap";
import { commitRound } from "./commit-round.ts";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

const SPEC = {
  ...{ script: "train.py", arguments: [], environment: {} },
  ...{ ranks: 2, strategy: "ddp" },
};
const specOf = ({ payload }: DesiredMember) =>
  JSON.parse(payload.files[0]!.text) as DistributedSpec;

t.test("a killed rank is no end: the next attempt goes on from the committed step", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { id } = await fixture.submit("ranks", {
    ...{ kind: "distributed", spec: SPEC, resumable: true, numRounds: null, minClients: 2 },
  });
  const [meeting, near, far] = (await agent.desiredOf(id, 3)) as [
    DesiredMember,
    DesiredMember,
    DesiredMember,
  ];
  t.same(
    [meeting, near, far].map((member) => specOf(member).site),
    ["meeting", "worker-1", "worker-2"],
  );
  await agent.bringUp([meeting, near, far]);
  await fixture.until(id, "RUNNING");
  t.same(await commitRound(agent, meeting, 40), ["accepted"]);

  await agent.report(far, {
    ...{ kind: "failed", reason: "container_failed" },
    message: "worker-2: rank 1 was ended by signal 9 (SIGKILL)",
  });
  await eventually(
    async () => ((await agent.desired()).every(({ desired }) => desired === "stop") ? true : null),
    "all are stopped",
  );
  for (const member of [meeting, near, far]) await agent.report(member, CLEAN);

  const again = await agent.desiredOf(id, 3);
  t.equal(fixture.job(id).attempt, 2);
  t.same(
    again.map((member) => specOf(member).resumesAfter),
    [40, 40, 40],
  );
  t.match(
    again[0]!.inputs.map(({ kind, target }) => [kind, target]),
    [["checkpoint", "resume/model.pt"]],
  );
  await agent.bringUp(again);
  await fixture.until(id, "RUNNING");
  await agent.report(again[0]!, { kind: "finished" });
  await agent.upload(again[0]!, "model_out/checkpoint.pt", "the model");
  await agent.report(again[0]!, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  t.equal((await fixture.until(id, "SUCCEEDED")).error, null);
  for (const member of again) await agent.report(member, CLEAN);
});

t.test("an exception of the script fails the job, by the member that raised it", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  const { id } = await fixture.submit("raised", {
    ...{ kind: "distributed", spec: SPEC, numRounds: null, minClients: 2 },
  });
  const members = await agent.desiredOf(id, 3);
  await agent.bringUp(members);
  await fixture.until(id, "RUNNING");
  await agent.report(members[2]!, {
    ...{ kind: "failed", reason: "user_exception" },
    ...{ message: "worker-2: ValueError: a label is missing", detail: "Traceback" },
  });
  await eventually(
    async () => ((await agent.desired()).every(({ desired }) => desired === "stop") ? true : null),
    "all are stopped",
  );
  for (const member of members) await agent.report(member, CLEAN);
  const { error } = await fixture.until(id, "FAILED");
  t.match(error, {
    ...{ code: "user_exception", message: "worker-2: ValueError: a label is missing" },
    hint: /files_out\/logs\/worker-2\.log/,
  });
});
