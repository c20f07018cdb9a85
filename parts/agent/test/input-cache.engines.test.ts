/**
 * What a node keeps of inputs between members, with a real agent, engine and object store. Of what was kept the store then holds other bytes: whoever gets
 * its inputs nevertheless had them from the node, and whoever downloads them is refused.
 */
import { createHash } from "node:crypto";
import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { MemberEvent, StagedInput } from "@resontech/contracts/agent-protocol";
import { untilFound } from "@resontech/house/until-found";
import t, { type Test } from "tap";
import { inputKey } from "./helper/coordinator-peer.ts";
import { TestNode } from "./helper/test-node.ts";
import { zipOf } from "./helper/zip.ts";

const nameOf = (text: string): string => createHash("sha256").update(text).digest("hex");
const [OWNER, OTHER] = [nameOf("owner"), nameOf("other")];
const SHARD = zipOf([{ name: "data/numbers.csv", body: "1,2,3\n".repeat(500) }]);
const MIB = 1024 ** 2;

async function nodeOf(t: Test) {
  const node = await TestNode.start();
  const { peer } = node;
  t.teardown(() => t.passing() || t.comment(node.log()));
  peer.cache = { owner: OWNER, maxBytes: 1024 * MIB };
  node.run();
  await untilFound("registration", () => peer.registrations.length === 1);
  const folder = join(node.config.dataDir, "members", "~inputs");
  const kept = (owner = OWNER): string[] => {
    const place = join(folder, owner);
    return existsSync(place) ? readdirSync(place) : [];
  };
  /** Runs one member to its end. @returns what it told */
  const run = async (job: string, inputs: StagedInput[], cacheOwner?: string) => {
    const member = node.member(
      job,
      { kind: "client", index: 0, site: "site-1" },
      inputs,
      cacheOwner === undefined ? {} : { cacheOwner },
    );
    peer.want(member);
    await peer.event(member.member, "released");
    const told = peer.of(member.member);
    peer.want();
    await untilFound("a member that is forgotten", () => {
      const names = readdirSync(join(node.config.dataDir, "members"));
      return !names.includes(member.member);
    });
    return told;
  };
  return { node, peer, folder, kept, run };
}

const staged = (told: readonly MemberEvent[]) => told.find(({ kind }) => kind === "staged");
const reasonOf = (told: readonly MemberEvent[]) => {
  const failed = told.find(({ kind }) => kind === "failed");
  return failed?.kind === "failed" ? failed.reason : null;
};

t.test(
  "a later member of the project downloads nothing, a guest gets nothing, and another owner finds nothing",
  async (t) => {
    const { node, peer, folder, kept, run } = await nodeOf(t);
    await using _node = node;
    const shard = { ...(await node.input("shard", "shard.zip", SHARD)), version: nameOf("v") };
    const total = SHARD.length;
    t.match(staged(await run("one", [shard], OWNER)), { cachedBytes: 0 });
    t.equal(kept().length, 1);
    await node.store.put(inputKey(shard.id), Buffer.alloc(SHARD.length, "x"));
    t.match(staged(await run("two", [shard], OWNER)), { cachedBytes: total });

    // Not the bytes that it was promised: so it had them from the store, and none that was kept.
    t.ok(["staging_failed", "shard_invalid"].includes(reasonOf(await run("guest", [shard])) ?? ""));
    t.equal(kept().length, 1, "it is kept for its owner");

    peer.cache = { owner: OTHER, maxBytes: 1024 * MIB };
    const told = await run("other", [shard], OTHER);
    t.ok(["staging_failed", "shard_invalid"].includes(reasonOf(told) ?? ""));
    t.strictSame(readdirSync(folder), [OTHER]);
    t.strictSame(kept(OTHER), [], "what failed is not kept");
    peer.cache = null;
    peer.want();
    await node.untilClean();
    t.strictSame(peer.violations, []);
  },
);

t.test("a kill in the middle of a filling leaves nothing that is taken for an input", async (t) => {
  const { node, peer, kept } = await nodeOf(t);
  await using _node = node;
  const body = Buffer.alloc(256 * MIB, "some data\n");
  const model = { ...(await node.input("model", "model/big", body)), version: nameOf("big") };
  const resources = { diskBytes: 600 * MIB };
  const change = { cacheOwner: OWNER, resources };
  const member = node.member("big", { kind: "client", index: 0, site: "site-1" }, [model], change);
  peer.want(member);
  await untilFound("a filling", () => kept().some((name) => name.startsWith("filling-")));
  await node.kill();
  t.match(kept(), [/^filling-/], "it was cut off");
  node.run();
  await peer.event(member.member, "staged");
  await peer.event(member.member, "released");
  t.notOk(kept().some((name) => name.startsWith("filling-")));
  peer.want();
  const again = node.member("again", { kind: "client", index: 0, site: "site-1" }, [model], change);
  peer.want(again);
  await peer.event(again.member, "released");
  t.ok(staged(peer.of(again.member)), "a later member has it whole: its ETag is an MD5");
  peer.cache = null;
  peer.want();
  await node.untilClean();
  t.strictSame(peer.violations, []);
});

t.test("a kill in the middle of an emptying is made up for before anybody begins", async (t) => {
  const { node, peer, folder, kept, run } = await nodeOf(t);
  await using _node = node;
  const inputs: StagedInput[] = [];
  for (const name of ["a", "b", "c"])
    inputs.push({
      ...(await node.input("model", `model/${name}`, `content ${name}`)),
      version: nameOf(name),
    });
  await run("one", inputs, OWNER);
  t.equal(kept().length, 3);
  await node.kill();
  // As far as it had come.
  rmSync(join(folder, OWNER, kept()[0]!));
  peer.cache = null;
  const stranger = node.member("stranger", { kind: "client", index: 0, site: "site-1" }, []);
  peer.want(stranger);
  node.run();
  await peer.event(stranger.member, "started");
  t.notOk(existsSync(folder), "before it started");
  await peer.event(stranger.member, "released");
  peer.want();
  await node.untilClean();
  t.strictSame(peer.violations, []);
});
