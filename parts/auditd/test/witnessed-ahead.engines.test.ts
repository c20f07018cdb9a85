/** Two checkpoints lie in a shard's folder. Where a disk kept the newer `checkpoint.witnessed` and lost the newer `checkpoint`, what is durable decides. */
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { LogKeys } from "../src/keys/log-keys.ts";
import { shardFiles } from "../src/shard-files.ts";
import { parseCheckpoint, signCheckpoint } from "@resontech/audit/format/note/checkpoint";
import { connectProducer } from "@resontech/audit/producer";
import { type AuditdFixture, startedAuditd } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";

/** A killed log; `earlier` is a copy of its folder from when it had `before` leaves, and what was witnessed covers `after`. */
async function killedLog(t: Test) {
  const auditd = await startedAuditd(t, { checkpointMs: 10 });
  const { logDir, root } = auditd;
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  const facts = async (count: number) => {
    const acks = await Promise.all(Array.from({ length: count }, () => producer.fact(keyList())));
    await producer.covered(acks.at(-1)!.index);
    return acks.at(-1)!;
  };
  await facts(300);
  const earlier = join(root, "earlier");
  // Else partial tiles that wider ones replaced go while they are copied.
  auditd.signal("SIGSTOP");
  cpSync(logDir, earlier, { recursive: true });
  auditd.signal("SIGCONT");
  const before = auditd.checkpointSize();
  const last = await facts(40);
  const after = auditd.checkpointSize();
  await auditd.stop("SIGKILL");
  await producer.close();
  cpSync(join(logDir, "checkpoint"), join(logDir, "checkpoint.witnessed"));
  const keep = (name: string) => {
    rmSync(join(earlier, name), { recursive: true, force: true });
    cpSync(join(logDir, name), join(earlier, name), { recursive: true });
  };
  return {
    auditd,
    before,
    after,
    last,
    earlier,
    /** The folder as it was, but for these. */
    putBack: (...names: string[]) => {
      for (const name of names) keep(name);
      rmSync(logDir, { recursive: true });
      renameSync(earlier, logDir);
    },
  };
}

/** What was acknowledged is there, and the log goes on behind it. */
async function goesOn(
  t: Test,
  auditd: AuditdFixture,
  { after, last }: { after: number; last: { index: number; leafHash: string } },
) {
  const sizeOf = () =>
    parseCheckpoint(readFileSync(join(auditd.logDir, "checkpoint"), "utf8"))!.size;
  t.ok(sizeOf() > after);
  t.match(await auditd.control({ verb: "status" }), { rolledBack: null, draining: false });
  await using producer = await connectProducer({
    ...{ socketPath: auditd.socket("appliance"), boot: "b-2", highestAck: last },
  });
  t.equal(producer.draining, false, "what was acknowledged is held");
  await producer.covered((await producer.fact(keyList())).index);
  await producer.close();
  t.equal(await auditd.stop(), 0);
  const leaves = await readLeaves(auditd.logDir);
  t.equal(leaves.filter(({ type }) => type === "key.list").length, 341);
  await auditd.start();
  t.equal(await auditd.stop(), 0, "and again");
}

t.test(
  "a checkpoint that was witnessed, and that the tiles bear out, is taken up as the newest",
  async (t) => {
    const log = await killedLog(t);
    const { auditd, earlier, before } = log;
    cpSync(join(earlier, "checkpoint"), join(auditd.logDir, "checkpoint"));
    t.equal(auditd.checkpointSize(), before);
    await auditd.start();
    await goesOn(t, auditd, log);
  },
);

t.test("so is one whose leaves only the write-ahead log holds", async (t) => {
  const log = await killedLog(t);
  log.putBack("checkpoint.witnessed", "wal", "disclosures");
  await log.auditd.start();
  await goesOn(t, log.auditd, log);
});

t.test(
  "one that is ahead of what is durable is a log that was put back, and is named",
  async (t) => {
    const { auditd, before, after, putBack } = await killedLog(t);
    putBack("checkpoint.witnessed");
    await auditd.start();
    t.match(await auditd.control({ verb: "status" }), {
      rolledBack: { seenSize: after, by: "checkpoint.witnessed" },
    });
    t.match(auditd.output, /put back to an older state/);
    t.equal(auditd.checkpointSize(), before, "nothing is signed");
    t.match(await auditd.control({ verb: "open-shard", approvers: ["ann", "bob"] }), {
      rolledBack: null,
    });
    await auditd.stop();
    const [first] = await readLeaves(auditd.shardDir(auditd.currentSlug));
    t.match(first, { type: "audit.shard.open", detail: { reason: "restore", seen_size: after } });
  },
);

t.test("one of another tree stops the start", async (t) => {
  const { auditd, earlier, before, after } = await killedLog(t);
  const { logDir, config } = auditd;
  using keys = await LogKeys.open(config);
  const signers = await keys.signersOf(shardFiles(config, auditd.currentSlug));
  const [checkpoint, witnessed] = [
    join(logDir, "checkpoint"),
    join(logDir, "checkpoint.witnessed"),
  ];
  const origin = `box.audit.acme/${auditd.currentSlug}`;
  const write = async (file: string, size: number) => {
    rmSync(file, { force: true });
    writeFileSync(file, await signCheckpoint({ origin, size, root: Buffer.alloc(32, 7) }, signers));
  };
  await write(checkpoint, before);
  await t.rejects(
    auditd.start(),
    { message: /no beginning of checkpoint\.witnessed/ },
    "the older one is no beginning of it",
  );
  cpSync(join(earlier, "checkpoint"), checkpoint);
  await write(witnessed, after);
  await t.rejects(
    auditd.start(),
    { message: /root of the checkpoint of/ },
    "the tiles are not its own",
  );
  const laterWal = join(auditd.root, "wal");
  cpSync(join(logDir, "wal"), laterWal, { recursive: true });
  const earlierWith = (wal: string) => {
    rmSync(logDir, { recursive: true });
    cpSync(earlier, logDir, { recursive: true });
    rmSync(join(logDir, "wal"), { recursive: true });
    cpSync(wal, join(logDir, "wal"), { recursive: true });
  };
  earlierWith(laterWal);
  await write(witnessed, after);
  await t.rejects(
    auditd.start(),
    { message: /write-ahead log does not give/ },
    "the write-ahead log is not its own",
  );
  earlierWith(join(earlier, "wal"));
  await write(witnessed, before + 1);
  await auditd.start();
  t.match(await auditd.control({ verb: "status" }), { rolledBack: { seenSize: before + 1 } });
  await auditd.stop();
  writeFileSync(join(auditd.root, "garbage"), "no checkpoint\n");
  renameSync(join(auditd.root, "garbage"), witnessed);
  await t.rejects(auditd.start(), { message: /checkpoint.witnessed is not signed/ });
});
