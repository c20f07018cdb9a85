/** An agent of the release before, which knows version 1 of the protocol alone, with the coordinator of this one. */
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { CoreFixture } from "./core-fixture.ts";
import { CLEAN } from "./scripted-agent.ts";

/** Of version 1, as the first release wrote it down. */
const FIELDS_OF_1 = [
  ...[
    "attempt",
    "bridge",
    "desired",
    "fence",
    "graceMs",
    "image",
    "inputs",
    "job",
    "member",
    "payload",
    "resources",
    "stopReason",
  ],
];
const PAYLOAD_OF_1 = [
  "certificates",
  "command",
  "environment",
  "files",
  "network",
  "outputs",
  "sites",
];

t.test("an agent of version 1 takes a federation to its end", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  agent.protocol = 1;
  t.same(Object.keys(await agent.register(2)).toSorted(), [
    "beatIntervalMs",
    "leaseMs",
    "nodeEpoch",
  ]);

  const { id } = await fixture.submit("older");
  const members = await agent.desiredOf(id, 3);
  for (const member of members) {
    t.same(
      Object.keys(member).filter((name) => !FIELDS_OF_1.includes(name)),
      [],
      "such an agent refuses a field that it does not know",
    );
    t.same(Object.keys(member.payload).toSorted(), PAYLOAD_OF_1);
    await agent.stage(member);
  }
  t.match(await agent.beat(members.map(({ member, fence }) => ({ member, fence }))), {
    reregister: false,
    leaseMs: 30_000,
  });
  await agent.bringUp(members);
  const [server, ...clients] = members as [DesiredMember, ...DesiredMember[]];
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  await agent.report(
    server,
    { kind: "round-started", round: 0, numRounds: 1 },
    { kind: "round-ended", round: 0, sites: ["site-1", "site-2"] },
    { kind: "finished" },
  );
  await agent.upload(server, "model_out/checkpoint.pt", "the model");
  await agent.report(server, { kind: "outputs-uploaded", keys: ["model_out/checkpoint.pt"] });
  t.equal((await fixture.until(id, "SUCCEEDED")).error, null);
  for (const client of clients)
    await agent.report(client, { kind: "finished" }, { kind: "outputs-uploaded", keys: [] }, CLEAN);
  await agent.report(server, CLEAN);
  t.same(await agent.desired(), []);
  t.same(fixture.errors, []);
});

t.test("without a common version the node is not registered, and is told why", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const agent = await fixture.agent("node-a", 2);
  agent.protocol = { min: 10, max: 11 };
  await t.rejects(agent.register(2), {
    code: "protocol_unsupported",
    message: /10 to 11, the appliance 1 to 9: upgrade the appliance/,
  });
});
