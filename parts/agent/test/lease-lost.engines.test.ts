/** A lease that is not renewed ends the work, with the agent and without it. */
import { existsSync } from "node:fs";
import t, { type Test } from "tap";
import { untilFound } from "@resontech/house/until-found";
import { agentStarter, TestNode } from "./helper/test-node.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const startAgent = agentStarter(node);
const GIB = 1024 ** 3;
const server = { kind: "server" } as const;

/** By the kernel's word: the engine's own takes seconds on a busy machine. How soon is judged by rt-init's own test, and by the proof lease-fence. */
async function untilGone(inits: readonly number[]): Promise<void> {
  await untilFound("the end of the container", () =>
    inits.every((pid) => !existsSync(`/proc/${pid}`)),
  );
}

function grantShortLeases(t: Test, leaseMs: number): void {
  peer.leaseMs = leaseMs;
  peer.beatIntervalMs = 1_000;
  t.teardown(() => {
    peer.leaseMs = 30_000;
    peer.beatIntervalMs = 5_000;
  });
}

t.test("a container whose lease runs out ends without its agent", async (t) => {
  grantShortLeases(t, 6_000);
  await startAgent(t);
  const member = node.member("stubborn-3", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  const firstEndsMs = performance.now() + peer.leaseMs;
  await untilFound("the end of the first lease", () => performance.now() > firstEndsMs);
  const inits = await node.runningInits();
  t.equal(inits.length, 1, "while beats are answered it runs past the first lease");
  await node.kill("SIGKILL");
  await untilGone(inits);
  await startAgent(t);
  const failed = await peer.event(member.member, "failed");
  t.equal(failed.reason, "lease_lost");
  await peer.event(member.member, "released");
  peer.want();
  await node.untilClean();
});

t.test(
  "without answered beats the agent stops its work, and takes new work once it is heard again",
  async (t) => {
    grantShortLeases(t, 7_000);
    t.teardown(() => (peer.isDeaf = false));
    await startAgent(t);
    const member = node.member("stubborn-4", server, []);
    peer.want(member);
    await peer.event(member.member, "ready");
    const inits = await node.runningInits();
    t.equal(inits.length, 1);
    peer.isDeaf = true;
    await untilGone(inits);
    peer.isDeaf = false;
    t.equal((await peer.event(member.member, "failed")).reason, "lease_lost");
    await peer.event(member.member, "released");
    const next = node.member("crash-2", server, []);
    peer.want(next);
    await peer.event(next.member, "released");
    peer.want();
    await node.untilClean();
  },
);

t.test(
  "what is desired while the lease is lost begins with the first beat that is answered",
  async (t) => {
    grantShortLeases(t, 7_000);
    t.teardown(() => peer.refuseAlways.clear());
    await startAgent(t);
    const before = node.log().length;
    const said = (what: string) => node.log().slice(before).split(what).length - 1;
    peer.refuseAlways.add("beat");
    await untilFound("the end of the lease", () => said("the lease is lost") > 0);
    const member = node.member("crash-3", server, []);
    peer.want(member);
    const refused = said("a beat was not answered");
    await untilFound("more tries", () => said("a beat was not answered") >= refused + 3);
    t.same(peer.of(member.member), [], "nothing begins without a lease");
    peer.refuseAlways.clear();
    await peer.event(member.member, "released", 15_000);
    peer.want();
    await node.untilClean();
  },
);

t.test(
  "events with a hole as large as the disk hold up no beat, and the last word behind it counts",
  async (t) => {
    grantShortLeases(t, 6_000);
    await startAgent(t);
    const neighbour = node.member("stubborn-5", server, []);
    const member = node.member("hole-events", server, [], { resources: { diskBytes: 10 * GIB } });
    peer.want(neighbour);
    await peer.event(neighbour.member, "ready");
    peer.want(neighbour, member);
    await peer.event(member.member, "released", 20_000);
    t.same(await node.store.get("out/model_out/checkpoint.pt"), "w");
    t.strictSame(
      peer.of(neighbour.member).filter(({ kind }) => kind === "failed"),
      [],
      "the neighbour runs on",
    );
    peer.want();
    await node.untilClean();
  },
);

t.test(
  "a file that says to be larger than the disk it is on is none of the job's outputs",
  async (t) => {
    await startAgent(t);
    const member = node.member("hole-model", server, [], { resources: { diskBytes: 10 * GIB } });
    peer.want(member);
    const failed = await peer.event(member.member, "failed", 20_000);
    t.equal(failed.reason, "output_missing");
    await peer.event(member.member, "released");
    peer.want();
    await node.untilClean();
  },
);

t.test("nothing broke the contract", async (t) => {
  t.strictSame(peer.violations, []);
});
