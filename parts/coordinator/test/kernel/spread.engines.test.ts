import t from "tap";
import { CoreFixture, eventually } from "./core-fixture.ts";
import { isServer } from "./told-role.ts";

const CLEAN = {
  kind: "released",
  processesGone: true,
  diskGone: true,
  devicesAtBaseline: true,
} as const;

t.test("an attempt over two nodes: who listens where, who is let in, and until when", async (t) => {
  const fixture = await CoreFixture.start();
  t.teardown(() => fixture.close());
  const [a, b] = [await fixture.agent("node-a", 1), await fixture.agent("node-b", 1)];
  const waiting = await fixture.submit("spread");
  const why = await eventually(() => fixture.job(waiting.id).waitingFor, "why it waits");
  t.match(
    why,
    /needs 2 workers; 2 of 2 would do now; they are on several nodes, none of which the others can reach/,
  );

  const ports = { from: 29_000, to: 29_000 };
  await a.register(1, [], { address: "10.9.8.7", ports });
  const onA = await a.desiredOf(waiting.id, 2);
  const onB = await b.desiredOf(waiting.id, 1);
  const [server, first] = [onA.find(isServer)!, onA.find((member) => !isServer(member))!];
  const [second] = onB;
  t.same(server.bridge, {
    kind: "listen",
    port: 29_000,
    peers: [{ node: "node-b", certificateSha256: b.certificateSha256 }],
  });
  t.equal(first.bridge, undefined, "beside the server it needs none");
  t.same(second?.bridge, {
    kind: "dial",
    host: "10.9.8.7",
    port: 29_000,
    peer: { node: "node-a", certificateSha256: a.certificateSha256 },
  });
  t.same(server.payload.sites, ["site-1", "site-2"]);
  t.equal(fixture.job(waiting.id).state, "PROVISIONING");

  const hints = a.hints;
  await b.report(second!, { kind: "failed", reason: "container_failed", message: "runc: no" });
  t.equal(fixture.job(waiting.id).state, "RECOVERING");
  await eventually(() => (a.hints > hints ? true : null), "node-a is told");
  const late = (await a.desired()).find(({ member }) => member === server.member)!;
  t.match(
    late,
    { desired: "stop", bridge: { kind: "listen", peers: [] } },
    "nobody is let in any more",
  );

  // The port is the older server's until its node has let go of it.
  await b.report(second!, CLEAN);
  await a.report(first, CLEAN);
  t.equal(fixture.job(waiting.id).state, "RECOVERING");
  await a.report(late, CLEAN);
  const again = await a.desiredOf(waiting.id, 2);
  t.equal(again.find(isServer)?.bridge?.port, 29_000);
  await fixture.cancel(waiting.id);
  for (const agent of [a, b])
    for (const member of await agent.desired()) await agent.report(member, CLEAN);
  await fixture.until(waiting.id, "CANCELLED");
  t.same(fixture.errors, []);
});
