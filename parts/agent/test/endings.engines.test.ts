/** Ways in which a member ends before its time, and troubles that must end none. */
import { existsSync } from "node:fs";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { agentStarter, TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const startAgent = agentStarter(node);
const server = { kind: "server" } as const;

t.test("told to stop, the payload may end by itself and what it left is kept", async (t) => {
  await startAgent(t);
  const member = node.member("sleep-1", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  await peer.event(member.member, "released");
  const kinds = peer.of(member.member).map(({ kind }) => kind);
  t.notOk(kinds.includes("failed"), "what was told to end has not failed");
  t.strictSame(kinds.slice(-2), ["outputs-uploaded", "released"]);
  t.match(await node.store.get(`logs/${member.member}-1.1/00000001`), /hello from server/);
  peer.want();
  await node.untilClean();
});

t.test("told to commit, it ends by itself once its round is stored", async (t) => {
  await startAgent(t);
  const member = node.member("yields-1", server, [], {}, { isResumable: true });
  peer.want(member);
  await peer.event(member.member, "job-started");
  const commit = { desired: "stop", stopReason: "preempted", stopAfter: "commit" } as const;
  peer.want({ ...member, ...commit, graceMs: 120_000 });
  await peer.event(member.member, "released");
  const told = peer.of(member.member).filter(({ kind }) => kind !== "progress");
  t.match(told.slice(-3), [
    { kind: "checkpoint", round: 4 },
    { kind: "outputs-uploaded" },
    { kind: "released", processesGone: true },
  ]);
  t.notOk(told.some(({ kind }) => kind === "failed"));
  peer.want();
  await node.untilClean();
});

t.test("what does not commit in time is ended, and so is what is stopped meanwhile", async (t) => {
  await startAgent(t);
  const commit = { desired: "stop", stopReason: "preempted", stopAfter: "commit" } as const;
  const [late, stopped] = ["sleep-late", "sleep-stopped"].map((job) =>
    node.member(job, server, [], {}, { isResumable: true }),
  );
  peer.want(late!, stopped!);
  await peer.event(late!.member, "ready");
  await peer.event(stopped!.member, "ready");
  peer.want({ ...late!, ...commit, graceMs: 500 }, { ...stopped!, ...commit, graceMs: 120_000 });
  await peer.event(late!.member, "released");
  t.notOk(
    peer.of(stopped!.member).some(({ kind }) => kind === "released"),
    "it has its time",
  );
  peer.want({ ...stopped!, desired: "stop", stopReason: "user_cancelled" });
  await peer.event(stopped!.member, "released");
  for (const { member } of [late!, stopped!])
    t.notOk(peer.of(member).some(({ kind }) => kind === "failed"));
  peer.want();
  await node.untilClean();
});

t.test("what does not stop within its grace is killed", async (t) => {
  await startAgent(t);
  const member = node.member("stubborn-1", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  const from = Date.now();
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled", graceMs: 1_500 });
  await peer.event(member.member, "released");
  // Not before: a busy machine only makes it later.
  t.ok(Date.now() - from >= 1_500);
  peer.want();
  await node.untilClean();
});

t.test("stopped while it is staged, it never starts", async (t) => {
  await startAgent(t);
  const member = node.member("sleep-staged", server, []);
  // The coordinator can't sign for now, so staging waits.
  peer.refuseAlways.add("sign");
  t.teardown(() => peer.refuseAlways.clear());
  peer.want(member);
  await peer.event(member.member, "progress");
  peer.want({ ...member, desired: "stop", stopReason: "user_cancelled" });
  await peer.event(member.member, "released");
  t.notOk(peer.of(member.member).some(({ kind }) => kind === "started" || kind === "failed"));
  peer.want();
  await node.untilClean();
});

t.test(
  "a withdrawn fence ends the old incarnation without a word before the new one starts",
  async (t) => {
    await startAgent(t);
    const old = node.member("sleep-fence", server, []);
    peer.want(old);
    await peer.event(old.member, "ready");
    peer.want({ ...old, fence: { generation: 1, counter: 2 } });
    await untilFound("the new incarnation", async () => {
      const names = await node.runningContainers();
      return names.length === 1 && names[0]?.endsWith("-1.2");
    });
    await untilFound(
      "ready twice",
      () => peer.of(old.member).filter(({ kind }) => kind === "ready").length === 2,
    );
    t.notOk(
      peer.reports.some(
        ({ member, fence, event }) =>
          member === old.member && fence.counter === 1 && event.kind === "released",
      ),
      "nothing is told under the old fence",
    );
    // Stop under a fence that is newer still: torn down, and told under that one.
    peer.want({
      ...old,
      fence: { generation: 2, counter: 1 },
      desired: "stop",
      stopReason: "node_lost",
    });
    await peer.event(old.member, "released");
    t.strictSame(peer.reports.at(-1)?.fence, { generation: 2, counter: 1 });
    t.equal(peer.reports.at(-1)?.seq, 1);
    peer.want();
    await node.untilClean();
  },
);

t.test("what nobody desires is ended at once", async (t) => {
  await startAgent(t);
  // With a grace that would outlast the wait for its end.
  const member = node.member("stubborn-2", server, [], { graceMs: 600_000 });
  peer.want(member);
  await peer.event(member.member, "ready");
  peer.want();
  await node.untilClean();
});

t.test("a coordinator, a bus or an engine that is away for a moment fails nobody", async (t) => {
  await startAgent(t);
  const member = node.member("train-away", server, []);
  const shard = zipOf([{ name: "data/numbers.csv", body: "1\n" }]);
  const client = node.member("train-away", { kind: "client", index: 0, site: "site-1" }, [
    await node.input("shard", "shard.zip", shard),
  ]);
  peer.want(member, client);
  await peer.event(member.member, "progress");
  await peer.disconnect();
  const before = node.log().length;
  const said = () => node.log().slice(before);
  await node.bus.stop();
  await untilFound("the agent's word of it", () => said().includes("a beat was not answered"));
  await node.bus.restart();
  await peer.connect();
  peer.bumpEpoch();
  for (const { member: name } of [member, client]) {
    await peer.event(name, "released");
    t.notOk(peer.of(name).some(({ kind }) => kind === "failed"));
  }
  peer.want();
  await node.untilClean();
});

t.test(
  "a refusal that passes is asked again, one that stays fails the member with its reason",
  async (t) => {
    await startAgent(t);
    for (const verb of ["stage", "sign", "output-open", "output-complete"] as const)
      peer.refuseOnce.set(verb, "storage_unavailable");
    const member = node.member("crash-3", server, [
      await node.input("script", "scripts/a.py", "a"),
    ]);
    peer.want(member);
    t.equal((await peer.event(member.member, "failed")).reason, "payload_exited");
    await peer.event(member.member, "released");

    peer.refuseOnce.set("output-open", "not_allowed");
    const refused = node.member("crash-4", { kind: "client", index: 0, site: "site-1" }, []);
    peer.want(refused);
    await peer.event(refused.member, "released");
    t.equal(
      (await peer.event(refused.member, "failed")).reason,
      "payload_exited",
      "the first failure stands",
    );
    peer.want();
    await node.untilClean();
  },
);

t.test(
  "a coordinator that is killed while it completes an output is asked again by its next life",
  async (t) => {
    await startAgent(t);
    peer.silentOnce.add("output-complete");
    const member = node.member("crash-8", server, []);
    peer.want(member);
    await peer.event(member.member, "released", 25_000);
    t.match(await node.store.get(`logs/${member.member}-1.1/00000001`), /about to crash/);
    peer.want();
    await node.untilClean();
  },
);

t.test("an image that is not there fails the member with what the engine said", async (t) => {
  await startAgent(t);
  const member = node.member("crash-5", server, []);
  const image = `${member.image.slice(0, -64)}${"0".repeat(64)}`;
  peer.want({ ...member, image });
  const failed = await peer.event(member.member, "failed");
  t.equal(failed.reason, "image_pull_failed");
  t.match(failed.message, /manifest unknown/);
  await peer.event(member.member, "released");
  peer.want();
  await node.untilClean();
});

t.test("an object that is not what was accepted is not staged", async (t) => {
  await startAgent(t);
  const input = await node.input("script", "scripts/a.py", "what was accepted");
  const member = node.member("crash-6", server, [{ ...input, etag: "0".repeat(32) }]);
  peer.want(member);
  t.equal((await peer.event(member.member, "failed")).reason, "staging_failed");
  await peer.event(member.member, "released");

  const outside = node.member("crash-7", server, [
    { ...input, target: "scripts/../../../../escaped" },
  ]);
  peer.want(outside);
  t.match((await peer.event(outside.member, "failed")).message, /no place for a script/);
  await peer.event(outside.member, "released");
  peer.want();
  await node.untilClean();
});

t.test("what is to end is killed and let go though its record can't be written", async (t) => {
  await startAgent(t);
  const member = node.member("stubborn-6", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  const hindrance = await node.hinderRecord(member.member);
  peer.want();
  await untilFound("nothing but its record", async () =>
    (await node.leftovers()).every((left) => left.startsWith("member ")),
  );
  hindrance.end();
  await node.untilClean();
});

t.test(
  "what fails for want of its record is let go, and told once there is one again",
  async (t) => {
    await startAgent(t);
    const member = node.member("rounds-2", server, [
      await node.input("checkpoint", "resume/model.pt", "m"),
    ]);
    peer.want(member);
    await peer.event(member.member, "ready");
    const hindrance = await node.hinderRecord(member.member);
    await untilFound("nothing but its record", async () =>
      (await node.leftovers()).every((left) => left.startsWith("member ")),
    );
    hindrance.end();
    t.equal((await peer.event(member.member, "failed")).reason, "agent_fault");
    await peer.event(member.member, "released");
    peer.want();
    await node.untilClean();
  },
);

t.test(
  "what is to end is killed though the engine hangs, and let go once it answers again",
  async (t) => {
    await startAgent(t);
    const member = node.member("stubborn-7", server, []);
    peer.want(member);
    await peer.event(member.member, "ready");
    const [name = ""] = await node.runningContainers();
    const pid = (await node.engine.podman("inspect", "--format", "{{.State.Pid}}", name)).trim();
    const hanging = node.engine.hang();
    t.teardown(() => hanging.end());
    peer.want();
    await untilFound("the end of PID 1", () => !existsSync(`/proc/${pid}`), 60_000);
    hanging.end();
    await node.untilClean();
  },
);

t.test("what a member uses is told with beats, and its memory's climb between them", async (t) => {
  const MIB = 1024 * 1024;
  // To an older coordinator nothing is told of it.
  peer.trial = () => ({ pull: null, noImage: null });
  t.teardown(() => {
    peer.trial = null;
  });
  // The next beat comes too late for a member that fills its memory in four seconds.
  peer.beatIntervalMs = 25_000;
  t.teardown(() => {
    peer.beatIntervalMs = 5_000;
  });
  await startAgent(t);
  const first = peer.beats.length;
  const member = node.member("climb-1", server, [], { resources: { memoryBytes: 96 * MIB } });
  peer.want(member);
  t.equal((await peer.event(member.member, "failed")).reason, "out_of_memory");
  await peer.event(member.member, "released");
  peer.want();
  await node.untilClean();
  const told = peer.beats.slice(first).flatMap(({ held, members }) => {
    const row = members?.held.findIndex((place) => held[place]?.member === member.member) ?? -1;
    return row === -1 ? [] : [{ ...members!, row }];
  });
  const memory = told.map(({ memoryKib, row }) => (memoryKib?.[row] ?? 0) / 1024);
  t.ok(memory.length >= 2, `told ${memory.length} times`);
  // A look may meet a member while the kernel clears what it killed: memory falls from its top then.
  const top = memory.indexOf(Math.max(...memory));
  const climb = memory.slice(0, top + 1);
  t.same(
    climb,
    climb.toSorted((a, b) => a - b),
    "it only grew until its top",
  );
  t.ok((memory[top] ?? 0) > 48, `${memory.join(", ")} MiB of 96`);
  const last = told[top]!;
  t.equal(last.memoryLimitMib?.[last.row], 96);
  for (const column of ["cpuMs", "memoryPeakKib", "networkReceivedKib"] as const)
    t.ok(Number.isInteger(last[column]?.[last.row]), `${column} is told`);
  t.match(peer.beats.at(-1)?.node, { processors: Number, memoryBytes: Number, diskBytes: Number });
});

t.test("nothing broke the contract", async (t) => {
  t.strictSame(peer.violations, []);
});
