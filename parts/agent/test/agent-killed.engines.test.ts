/** The agent is killed at any point: the next process goes on from the records. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { agentStarter, TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

const node = await TestNode.start();
t.teardown(() => node[Symbol.asyncDispose]());
const { peer } = node;
const startAgent = agentStarter(node);
const server = { kind: "server" } as const;

t.test("an agent that is killed while members run finds them again, and they finish", async (t) => {
  await startAgent(t);
  const shard = zipOf([{ name: "data/numbers.csv", body: "1\n" }]);
  const members = [
    node.member("train-long-1", server, []),
    node.member("train-long-1", { kind: "client", index: 0, site: "site-1" }, [
      await node.input("shard", "shard.zip", shard),
    ]),
  ];
  peer.want(...members);
  const [first, second] = members;
  if (first === undefined || second === undefined) return;
  await peer.event(first.member, "round-ended");
  await node.kill("SIGKILL");
  const containers = await node.runningContainers();
  t.ok(containers.length >= 1, "containers outlive the agent");
  await startAgent(t);
  const held = peer.registrations.at(-1)?.held.map(({ member }) => member) ?? [];
  t.ok(held.includes(first.member), "the new process says what it holds");
  await peer.event(first.member, "released");
  await peer.event(second.member, "released");
  const kinds = peer.of(first.member).map(({ kind }) => kind);
  t.equal(kinds.filter((kind) => kind === "started").length, 1, "nothing ran twice");
  for (const kind of ["round-started", "metric", "finished"] as const)
    t.equal(kinds.filter((found) => found === kind).length, 1, `${kind} is told once`);
  peer.want();
  await node.untilClean();
});

t.test(
  "an agent that is killed again and again, from staging to release, loses nothing",
  { timeout: 400_000 },
  async (t) => {
    const shard = zipOf([{ name: "data/numbers.csv", body: "1\n" }]);
    for (const [n, waitMs] of [40, 120, 250, 400, 650, 1_000].entries()) {
      const job = `train-killed${n}`;
      const members = [
        node.member(job, server, []),
        node.member(job, { kind: "client", index: 0, site: "site-1" }, [
          await node.input("shard", "shard.zip", shard),
        ]),
      ];
      await startAgent(t);
      peer.want(...members);
      await sleep(waitMs);
      await node.kill("SIGKILL");
      await startAgent(t);
      for (const { member } of members) {
        await peer.event(member, "released");
        const kinds = peer.of(member).map(({ kind }) => kind);
        t.equal(
          kinds.filter((kind) => kind === "finished").length,
          1,
          `${member}, killed after ${waitMs} ms: ${kinds.join(" ")}`,
        );
        t.notOk(kinds.includes("failed"));
      }
      peer.want();
      await node.untilClean();
      await node.kill("SIGKILL");
    }
  },
);

t.test("what an agent left that no record knows is swept at the next start", async (t) => {
  await startAgent(t);
  const member = node.member("stubborn-5", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  await node.kill("SIGKILL");
  const record = join(node.config.dataDir, "members", member.member, "record.json");
  const text = readFileSync(record, "utf8");
  writeFileSync(record, "");
  t.teardown(() => existsSync(record) && writeFileSync(record, text));
  peer.want();
  await startAgent(t);
  await node.untilClean();
});

t.test("the agent stops on SIGTERM and leaves containers to the next one", async (t) => {
  await startAgent(t);
  const member = node.member("sleep-2", server, []);
  peer.want(member);
  await peer.event(member.member, "ready");
  t.equal(await node.kill("SIGTERM"), 0);
  t.equal((await node.runningContainers()).length, 1);
  await startAgent(t);
  peer.want();
  await node.untilClean();
});

t.test("nothing broke the contract", async (t) => {
  t.strictSame(peer.violations, []);
});
