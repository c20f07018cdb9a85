import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { LogKeys } from "../src/keys/log-keys.ts";
import { shardFiles } from "../src/shard-files.ts";
import { signCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { Frontier } from "@resontech/audit/format/tree/merkle";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { jobSubmit, keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "./helper/verified.ts";
import { PEOPLE } from "@resontech/audit/testing/step-up-people";

const DECEMBER = Date.parse("2026-12-20T10:00:00Z");
const JANUARY = Date.parse("2027-01-01T00:00:05Z");

async function auditdInDecember(t: Test): Promise<AuditdFixture> {
  const auditd = new AuditdFixture(temporaryFolder(t), {
    inception: "2026-12-20",
    checkpointMs: 20,
  });
  auditd.clockMs = DECEMBER;
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  return auditd;
}

/** A producer tries again at most a second later. */
async function connected(producer: { readonly connected: boolean }): Promise<void> {
  for (
    const deadline = performance.now() + 120_000;
    !producer.connected && performance.now() < deadline;
  )
    await sleep(20);
}

/** Puts back the files that a folder holds now. */
function keptFiles(folder: string): () => void {
  const files = readdirSync(folder).map(
    (name) => [join(folder, name), readFileSync(join(folder, name))] as const,
  );
  return () => {
    for (const [file, content] of files)
      if (!existsSync(file)) writeFileSync(file, content, { mode: 0o400 });
  };
}

const keysOf = (auditd: AuditdFixture) => readdirSync(auditd.config.keysDir).sort();
const typesOf = async (folder: string) => (await readLeaves(folder)).map(({ type }) => type);

t.test(
  "the next shard is prepared ahead, and turns after the new year once somebody vouches for the clock",
  async (t) => {
    const auditd = await auditdInDecember(t);
    const boot = "b-1";
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot,
    });
    const { op } = jobSubmit();
    const requested = await gate.requested(jobSubmit(op));
    await auditd.stop();
    const before = await readLeaves(auditd.shardDir("2026"));
    t.match(before[0], {
      type: "audit.shard.open",
      detail: { reason: "first", prev_origin: null },
    });
    const next = before.find(({ type }) => type === "audit.shard.next");
    t.match(next, {
      detail: {
        origin: "box.audit.acme/2027",
        keys: [/^box\.audit\.acme\/2027\+/, /^box\.audit\.acme\/2027\+/],
      },
    });
    t.same(
      readFileSync(auditd.config.policyFile, "utf8").match(/^log [^+]+/gm),
      ["2027", "2027", "2026", "2026"].map((slug) => `log box.audit.acme/${slug}`),
      "the policy lists its keys already",
    );

    auditd.clockMs = JANUARY;
    await auditd.start();
    await sleep(200);
    t.equal(auditd.currentSlug, "2026", "a clock that nobody vouches for turns nothing");
    t.match(await auditd.control({ verb: "clock-is-right" }), { origin: "box.audit.acme/2027" });
    t.equal(auditd.currentSlug, "2027");
    t.same(
      keysOf(auditd),
      ["2027.ed25519.pem", "2027.ml-dsa-44.pem"],
      "the old shard's keys are destroyed",
    );

    await connected(gate);
    t.match(await gate.openOperations(), [
      { op, type: "job.submit", index: requested.index, leafHash: requested.leafHash },
    ]);
    await gate.outcome({ ...jobSubmit(op), phase: "completed" });
    const last = await gate.fact(keyList());
    await gate.covered(last.index);
    await gate.close();
    await auditd.stop();
    t.equal((await typesOf(auditd.shardDir("2026"))).at(-1), "audit.shard.close");
    const after = await readLeaves(auditd.shardDir("2027"));
    t.match(
      after.slice(0, 5).map(({ type, detail }) => [type, detail]),
      [
        [
          "audit.shard.open",
          {
            reason: "year",
            prev_origin: "box.audit.acme/2026",
            prev_size: Number,
            seen_size: Number,
          },
        ],
        ["audit.producer.start", { boot, first_pseq: 2, prev_boot: boot, prev_pseq: 1 }],
        [
          "audit.op.carried",
          { type: "job.submit", prod: "coordinator-gate", index: requested.index },
        ],
        ["audit.producer.start", { first_pseq: 1, prev_boot: String }],
        ["audit.heartbeat", {}],
      ],
    );
    t.same(
      after
        .filter(({ prod }) => prod === "coordinator-gate")
        .map(({ pseq, phase }) => [pseq, phase]),
      [
        [2, "completed"],
        [3, "fact"],
      ],
      "the producer goes on where it stood",
    );
    t.equal(after[0]!.detail!["prev_size"], (await readLeaves(auditd.shardDir("2026"))).length);
  },
);

t.test(
  "keys of the next shard that are gone at the turn are made and named anew before it, and the policy lists them alone",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await auditd.stop();
    const named = (await readLeaves(auditd.shardDir("2026"))).filter(
      ({ type }) => type === "audit.shard.next",
    );
    for (const file of keysOf(auditd).filter((name) => name.startsWith("2027")))
      rmSync(join(auditd.config.keysDir, file));
    auditd.clockMs = JANUARY;
    await auditd.start();
    t.match(await auditd.control({ verb: "clock-is-right" }), { origin: "box.audit.acme/2027" });
    await auditd.stop();
    const [first, second, ...more] = (await readLeaves(auditd.shardDir("2026"))).filter(
      ({ type }) => type === "audit.shard.next",
    );
    t.same([first, more], [named[0], []], "once before, once anew");
    const listed = readFileSync(auditd.config.policyFile, "utf8").match(
      /^log box\.audit\.acme\/2027\+.*/gm,
    );
    t.same(
      listed,
      (second!.detail!["keys"] as string[]).map((key) => `log ${key}`),
    );
    t.notSame(second!.detail!["keys"], first!.detail!["keys"]);
    t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" } } });
  },
);

t.test(
  "keys that go while auditd runs are made and named anew as well, and the log goes on through the next start",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t), {
      inception: "2026-12-31",
      checkpointMs: 20,
    });
    auditd.clockMs = Date.parse("2026-12-31T23:59:56Z");
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    // One that is being written has another name.
    const made = () => keysOf(auditd).filter((name) => name.endsWith(".pem"));
    await until(() => made().length === 4);
    for (const file of made().filter((name) => name.startsWith("2027")))
      rmSync(join(auditd.config.keysDir, file));
    await sleep(4_500);
    t.match(await auditd.control({ verb: "clock-is-right" }), { origin: "box.audit.acme/2027" });
    const policy = `# by two people\n${readFileSync(auditd.config.policyFile, "utf8")}`;
    t.notMatch(
      await auditd.control({
        ...{ verb: "set-policy", policy },
        approval: PEOPLE.policyProof(policy, { atS: JANUARY / 1000 }),
      }),
      { error: {} },
      "the policy with the new keys is the log's own",
    );
    t.equal(await auditd.stop(), 0);
    auditd.clockMs = JANUARY;
    await auditd.start();
    await auditd.stop();
    t.match(await verified(auditd), { verdicts: { SIGNATURE: { verdict: "PASS" } } });
  },
);

t.test(
  "a shard that can't be prepared ends nothing: the log goes on, and the next look tries again",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t), {
      inception: "2026-12-20",
      checkpointMs: 20,
    });
    auditd.clockMs = DECEMBER;
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    const inTheWay = join(auditd.config.keysDir, "2027.ed25519.pem");
    mkdirSync(inTheWay);
    await auditd.start();
    await until(() => auditd.output.includes("can't be prepared"));
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    await gate.fact(keyList());
    rmSync(inTheWay, { recursive: true });
    await auditd.control({ verb: "clock-is-right" });
    t.equal(keysOf(auditd).length, 4);
  },
);

t.test(
  "a producer whose acknowledgement was lost at the turn gets the same one from the shard before",
  async (t) => {
    const auditd = await auditdInDecember(t);
    const first = { socketPath: auditd.socket("appliance"), boot: "b-1" };
    await using before = await connectProducer(first);
    const acknowledged = await before.fact(keyList());
    await before.close();
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    // The same life, which does not know of its acknowledgement and numbers from the beginning.
    await using again = await connectProducer(first);
    const refusal = await again.fact(keyList()).catch((error: unknown) => error);
    t.match(
      refusal,
      { reason: "pseq_used" },
      "other bytes under a number of the shard before are refused",
    );
    await using knowing = await connectProducer({
      ...first,
      boot: "b-2",
      highestAck: acknowledged,
    });
    t.equal(knowing.draining, false, "what the shard before holds is not lost");
  },
);

t.test(
  "a producer that lives through turns presents what was acknowledged last, whatever its index",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    for (let n = 0; n < 30; n++) await gate.fact(keyList());
    for (const year of [2027, 2028]) {
      await auditd.stop();
      auditd.clockMs = Date.UTC(year, 0, 1, 0, 0, 5);
      await auditd.start();
      await auditd.control({ verb: "clock-is-right" });
      await connected(gate);
      const last = await gate.fact(keyList());
      t.ok(last.index < 30);
      t.same(gate.highestAck, last);
    }
    t.equal(gate.draining, false);
    await gate.close();
    await auditd.stop();
    t.notOk((await typesOf(auditd.shardDir("2028"))).includes("audit.lost"));
  },
);

t.test(
  "killed at any moment of the turn, it ends in one shard that follows the other",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await using gate = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
    });
    const { op } = jobSubmit();
    await gate.requested(jobSubmit(op));
    const kills = new Set<string>();
    auditd.clockMs = JANUARY;
    for (let delayMs = 0; auditd.currentSlug === "2026" && delayMs < 400; delayMs += 7) {
      await auditd.stop("SIGKILL");
      await auditd.start();
      const asked = auditd.control({ verb: "clock-is-right" }).catch(() => null);
      await sleep(delayMs);
      await auditd.stop("SIGKILL");
      await asked;
      kills.add(auditd.currentSlug);
      await auditd.start();
    }
    if (auditd.currentSlug === "2026") await auditd.control({ verb: "clock-is-right" });
    await connected(gate);
    await gate.outcome({ ...jobSubmit(op), phase: "completed" });
    await gate.close();
    await auditd.stop();
    t.ok(kills.has("2026"), "kills hit before the next one was named");
    const [old, young] = [
      await typesOf(auditd.shardDir("2026")),
      await typesOf(auditd.shardDir("2027")),
    ];
    t.same(
      [old.filter((type) => type === "audit.shard.close").length, old.at(-1)],
      [1, "audit.shard.close"],
    );
    t.same(
      [young.filter((type) => type === "audit.shard.open").length, young[0]],
      [1, "audit.shard.open"],
    );
    t.equal(young.filter((type) => type === "audit.op.carried").length, 1);
    t.same(keysOf(auditd), ["2027.ed25519.pem", "2027.ml-dsa-44.pem"]);
  },
);

/** Both shards have both of their keys, under their names. */
const untilPrepared = (auditd: AuditdFixture): Promise<void> =>
  until(() => keysOf(auditd).filter((name) => name.endsWith(".pem")).length === 4);

t.test(
  "keys of the shard before that a power cut left at the turn are destroyed by the next start",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await untilPrepared(auditd);
    const left = keysOf(auditd).filter((name) => name.startsWith("2026"));
    const putBack = keptFiles(auditd.config.keysDir);
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    await auditd.stop("SIGKILL");
    putBack();
    await auditd.start();
    t.same([left.length, keysOf(auditd)], [2, ["2027.ed25519.pem", "2027.ml-dsa-44.pem"]]);
  },
);

t.test(
  "a shard whose first checkpoint a power cut took back goes on with the leaves that it covered",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await untilPrepared(auditd);
    const putBack = keptFiles(auditd.config.keysDir);
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await auditd.start();
    await auditd.control({ verb: "clock-is-right" });
    await auditd.stop("SIGKILL");
    const seen = (await readLeaves(auditd.shardDir("2027"))).map(({ id }) => id);
    // As it was before that checkpoint had its name: the empty tree's, and the older shard is the one that is written.
    using keys = await LogKeys.open(auditd.config);
    const signers = await keys.signersOf(shardFiles(auditd.config, "2027"));
    const empty = await signCheckpoint(
      { origin: "box.audit.acme/2027", size: 0, root: new Frontier().root() },
      signers,
    );
    for (const [file, text] of [
      [join(auditd.shardDir("2027"), "checkpoint"), empty],
      [join(auditd.config.auditDir, "current"), "2026\n"],
    ] as const) {
      rmSync(file);
      writeFileSync(file, text, { mode: 0o440 });
    }
    putBack();
    await auditd.start();
    await auditd.stop();
    t.equal(auditd.currentSlug, "2027");
    const leaves = await readLeaves(auditd.shardDir("2027"));
    t.same(
      leaves.slice(0, seen.length).map(({ id }) => id),
      seen,
    );
    t.equal(leaves.filter(({ type }) => type === "audit.shard.open").length, 1);
  },
);

t.test(
  "a shard that was not prepared is prepared once, however many vouch for the clock at a time",
  async (t) => {
    const auditd = new AuditdFixture(temporaryFolder(t), { inception: "2026-10-05" });
    auditd.clockMs = Date.parse("2026-10-05T10:00:00Z");
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    auditd.clockMs = JANUARY;
    await auditd.start();
    const answers = await Promise.all(
      Array.from({ length: 3 }, () => auditd.control({ verb: "clock-is-right" })),
    );
    t.match(
      answers,
      Array.from({ length: 3 }, () => ({ origin: "box.audit.acme/2027" })),
    );
    t.equal(
      readFileSync(auditd.config.policyFile, "utf8").match(/^log box\.audit\.acme\/2027\+/gm)
        ?.length,
      2,
    );
    await auditd.stop();
    t.equal(
      (await typesOf(auditd.shardDir("2026"))).filter((type) => type === "audit.shard.next").length,
      1,
    );
  },
);

t.test(
  "a turn that an officer asked for and that fails ends auditd, as any other write that fails",
  async (t) => {
    const auditd = await auditdInDecember(t);
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await auditd.start();
    // In the way of the file that names the shard.
    const current = join(auditd.config.auditDir, "current");
    renameSync(current, `${current}.kept`);
    mkdirSync(current);
    const asked = auditd.control({ verb: "clock-is-right" }).catch(() => null);
    t.equal(await auditd.ended(10_000), 1);
    await asked;
    rmSync(current, { recursive: true });
    renameSync(`${current}.kept`, current);
    await auditd.start();
    t.equal(auditd.currentSlug, "2027", "the next start ends the turn");
  },
);

/** A log that was put back to an older state; `later` is what its producers had been acknowledged since. */
async function restoredLog(t: Test) {
  const root = temporaryFolder(t);
  const names = ["coordinator-gate", "audit-out"];
  const auditd = new AuditdFixture(root, {
    producers: names.map((name) => ({
      name,
      family: name,
      socket: join(root, "run", `${name}.sock`),
      gid: null,
    })),
    learnMs: 3_000,
  });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  await using gate = await connectProducer({
    socketPath: auditd.socket("coordinator-gate"),
    boot: "b-1",
  });
  await gate.covered((await gate.fact(keyList())).index);
  const backup = join(root, "backup");
  await auditd.copyTo(backup);
  const later = await Promise.all(Array.from({ length: 30 }, () => gate.fact(keyList())));
  await gate.covered(later.at(-1)!.index);
  const size = auditd.checkpointSize();
  await gate.close();
  await auditd.stop();
  rmSync(auditd.config.auditDir, { recursive: true });
  renameSync(backup, auditd.config.auditDir);
  const kept = auditd.checkpointSize();
  const origin = `box.audit.acme/${auditd.currentSlug}`;
  return {
    auditd,
    later,
    size,
    kept,
    origin,
    tryOpen: (approvers: string[]) => auditd.control({ verb: "open-shard", approvers }),
  };
}

t.test(
  "a log that is older than what a reader saw signs nothing until two people open a new shard",
  async (t) => {
    const { auditd, later, size, kept, origin, tryOpen } = await restoredLog(t);
    const slug = auditd.currentSlug;
    const seen = [{ origin, size, root: "a".repeat(64), by: "reader" as const }];
    const starting = auditd.start();
    const outward = connectProducer({
      socketPath: auditd.socket("audit-out"),
      boot: "o-1",
      seen: () => seen,
      connectTimeoutMs: 20_000,
    });
    await starting;
    const before = readFileSync(join(auditd.logDir, "checkpoint"));
    const highestAck = later.at(-1)!;
    const refused = connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b-1",
      firstPseq: 32,
      highestAck,
    });
    await sleep(500);
    t.ok(readFileSync(join(auditd.logDir, "checkpoint")).equals(before), "nothing is signed");
    t.match(await auditd.control({ verb: "status" }), {
      size: Number,
      rolledBack: { seenSize: size, by: "reader" },
    });
    t.match(await tryOpen(["ann", "ann"]), { error: { code: "approvers_equal" } });
    t.match(await tryOpen(["ann"]), { error: { code: "request_invalid" } });
    t.match(await tryOpen(["ann", "bob"]), { origin: `${origin}-2`, rolledBack: null });
    t.match(await tryOpen(["ann", "bob"]), { error: { code: "not_rolled_back" } });
    await using gate = await refused;
    await using _outward = await outward;
    t.equal(gate.draining, false, "what was lost is known");
    await gate.fact(keyList());
    await gate.close();
    await auditd.stop();
    const leaves = await readLeaves(auditd.shardDir(`${slug}-2`));
    t.match(leaves[0], {
      type: "audit.shard.open",
      detail: {
        reason: "restore",
        prev_origin: origin,
        prev_size: kept,
        seen_size: size,
        seen_root: "a".repeat(64),
        claimed: { approvers: ["ann", "bob"], proof: "unproven" },
      },
    });
    t.match(
      leaves.filter(({ type }) => type === "audit.lost"),
      [
        {
          object: { id: "coordinator-gate" },
          detail: { index: highestAck.index, leaf_sha256: highestAck.leafHash },
        },
      ],
    );
    t.same(keysOf(auditd), [`${slug}-2.ed25519.pem`, `${slug}-2.ml-dsa-44.pem`]);
  },
);

t.test(
  "a restore that no witness vouches for needs a new shard; one that a witness knows whole goes on",
  async (t) => {
    const { auditd, size, kept, origin, tryOpen } = await restoredLog(t);
    const marker = join(auditd.config.auditDir, "restored");
    writeFileSync(marker, "");
    await auditd.start();
    t.match(
      await auditd.control({ verb: "status" }),
      { rolledBack: { by: "restore" } },
      "audit-out does not answer",
    );
    await auditd.stop();
    const root = "b".repeat(64);
    const starting = auditd.start();
    const outward = connectProducer({
      ...{ socketPath: auditd.socket("audit-out"), boot: "o-1" },
      seen: () => [
        { origin, size: kept, root, by: "witness" },
        { origin: "other.audit.acme/2026", size: size + 99, root, by: "witness" },
      ],
    });
    await starting;
    t.match(await auditd.control({ verb: "status" }), { rolledBack: null });
    t.notOk(existsSync(marker));
    t.match(await tryOpen(["ann", "bob"]), { error: { code: "not_rolled_back" } });
    await (await outward).close();
  },
);
