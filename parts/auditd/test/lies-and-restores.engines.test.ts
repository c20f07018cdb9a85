/** What a start believes of what it is told, and what it must remember of itself where nobody tells it anything. */
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import type { LeafRef, SeenTree } from "@resontech/audit/format/wire/frames";
import { connectProducer } from "@resontech/audit/producer";
import { until } from "@resontech/audit/testing/until";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { verified } from "./helper/verified.ts";

const NOVEMBER = Date.parse("2026-11-20T10:00:00Z");
const DECEMBER = Date.parse("2026-12-20T10:00:00Z");
const JANUARY = Date.parse("2027-01-01T00:00:05Z");
const APPROVERS = ["ann", "bob"];
const ORIGIN = "box.audit.acme/2026";
const ROOT = "a".repeat(64);

type Hello = {
  signal?: AbortSignal;
  highestAck?: LeafRef;
  seen?: () => SeenTree[];
  boot?: string;
  firstPseq?: number;
};

/** A log with some entries; `putBack` makes its folder what it was when the test began. */
async function log(t: Test, { clockMs = NOVEMBER, synced = false } = {}) {
  const root = temporaryFolder(t);
  const auditd = new AuditdFixture(root, {
    producers: ["coordinator-gate", "vault", "audit-out"].map((name) => ({
      ...{ name, family: name, socket: join(root, "run", `${name}.sock`), gid: null },
    })),
    ...{
      inception: new Date(clockMs).toISOString().slice(0, 10),
      checkpointMs: 20,
      learnMs: 1_500,
    },
    ...(synced ? { clockSyncedFile: root } : {}),
  });
  auditd.clockMs = clockMs;
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  const connect = (name: string, hello: Hello = {}) =>
    connectProducer({
      socketPath: auditd.socket(name),
      boot: `${name}-1`,
      connectTimeoutMs: 30_000,
      ...hello,
    });
  /** Starts it while this producer says hello, and is gone afterwards. */
  const startHearing = async (name: string, hello: Hello): Promise<void> => {
    const gone = new AbortController();
    const closed = connect(name, { ...hello, signal: gone.signal }).then(
      (one) => one.close(),
      () => {},
    );
    await auditd.start();
    gone.abort();
    await closed;
  };
  await startHearing("audit-out", { boot: "o-1" });
  const gate = await connect("coordinator-gate");
  const kept = await gate.fact(keyList());
  await gate.covered(kept.index);
  if (clockMs === DECEMBER)
    await until(async () =>
      (await readLeaves(auditd.shardDir("2026"))).some(({ type }) => type === "audit.shard.next"),
    );
  const backup = join(root, "backup");
  await auditd.copyTo(backup);
  const lost = (await Promise.all(Array.from({ length: 30 }, () => gate.fact(keyList())))).at(-1)!;
  await gate.covered(lost.index);
  await gate.close();
  await auditd.stop();
  const putBack = (): void => {
    rmSync(auditd.config.auditDir, { recursive: true });
    cpSync(backup, auditd.config.auditDir, { recursive: true });
  };
  return { auditd, connect, startHearing, putBack, kept, lost };
}

const openShard = (auditd: AuditdFixture) =>
  auditd.control({ verb: "open-shard", approvers: APPROVERS });
const status = (auditd: AuditdFixture) => auditd.control({ verb: "status" });
const noteOf = (auditd: AuditdFixture, slug = "2026") =>
  readFileSync(join(auditd.shardDir(slug), "checkpoint"), "utf8");
const sizeOf = (auditd: AuditdFixture, slug = "2026") =>
  Number(noteOf(auditd, slug).split("\n")[1]);
const markRestored = (auditd: AuditdFixture, said = "") =>
  writeFileSync(join(auditd.config.auditDir, "restored"), said);

t.test("a producer that runs is heard, although audit-out comes before it", async (t) => {
  const { auditd, connect, putBack, lost } = await log(t);
  putBack();
  const started = auditd.start();
  const isListening = () =>
    status(auditd).then(
      () => true,
      () => false,
    );
  await until(isListening);
  const gone = new AbortController();
  t.teardown(() => gone.abort());
  for (const [name, hello] of [
    ["audit-out", { seen: () => [] }],
    ["coordinator-gate", { highestAck: lost }],
  ] as const) {
    connect(name, { ...hello, boot: "again", signal: gone.signal }).catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  await started;
  await until(async () => ((await status(auditd))["rolledBack"] ?? null) !== null);
  t.match(await status(auditd), {
    rolledBack: { by: "coordinator-gate", seenSize: lost.index + 1 },
  });
});

t.test("audit-out alone speaks for readers and witnesses", async (t) => {
  const { auditd, startHearing, putBack } = await log(t);
  putBack();
  markRestored(auditd);
  const size = sizeOf(auditd);
  await startHearing("coordinator-gate", {
    seen: () => [{ origin: ORIGIN, size, root: ROOT, by: "witness" }],
  });
  t.match(await status(auditd), { rolledBack: { by: "restore" } }, "no witness has vouched for it");
  await auditd.stop();
  rmSync(join(auditd.config.auditDir, "restored"));
  await startHearing("coordinator-gate", {
    seen: () => [{ origin: "box.audit.acme/2031", size: 9, root: ROOT, by: "reader" }],
  });
  t.match(await status(auditd), { rolledBack: null });
});

t.test("a witness that speaks of an older shard vouches for nothing", async (t) => {
  const { auditd, startHearing, putBack } = await log(t);
  putBack();
  markRestored(auditd);
  await startHearing("audit-out", {
    seen: () => [{ origin: "box.audit.acme/2025", size: 9, root: ROOT, by: "witness" }],
  });
  t.match(await status(auditd), { rolledBack: { by: "restore" } });
});

t.test("no claim keeps the log from ever going on", async (t) => {
  const { auditd, startHearing } = await log(t);
  await startHearing("coordinator-gate", {
    highestAck: { index: Number.MAX_SAFE_INTEGER, leafHash: ROOT },
  });
  t.match(await status(auditd), { rolledBack: null }, "no entry can stand there");
  await auditd.stop();
  const highestAck = { index: Number.MAX_SAFE_INTEGER - 1, leafHash: ROOT };
  await startHearing("coordinator-gate", { highestAck });
  t.match(await status(auditd), { rolledBack: { by: "coordinator-gate" } });
  const opened = { origin: `${ORIGIN}-2`, rolledBack: null };
  t.match(
    await Promise.all([openShard(auditd), openShard(auditd)]),
    [opened, opened],
    "asked for twice at once",
  );
  t.match(await verified(auditd), { verdicts: { COMPLETENESS: { verdict: "PASS" } } });
  await auditd.stop();
  await startHearing("coordinator-gate", { highestAck });
  t.match(await status(auditd), { rolledBack: null }, "two people have taken note of it");
  await auditd.stop();
  for (const slug of ["2026-9999", "9999", "9999-9999"]) {
    const seen = () => [
      { origin: `box.audit.acme/${slug}`, size: 9, root: ROOT, by: "witness" as const },
    ];
    await startHearing("audit-out", { seen });
    t.match(await status(auditd), { rolledBack: null }, `no shard can follow ${slug}`);
    await auditd.stop();
  }
});

t.test(
  "an opening that was cut short is gone on with, whoever says something at the next start",
  async (t) => {
    for (const [slug, size] of [
      ["2026-2", 90],
      ["2027-2", 5],
    ] as const)
      await t.test(slug, (t) =>
        cutShort(t, slug, {
          origin: `box.audit.acme/${slug.slice(0, 4)}`,
          size,
          root: ROOT,
          by: "reader",
        }),
      );
  },
);

/** Of the shard `slug`, after somebody has seen this. */
async function cutShort(t: Test, slug: string, seen: SeenTree): Promise<void> {
  const { auditd, startHearing, putBack } = await log(t, { synced: true });
  putBack();
  const before = noteOf(auditd);
  await startHearing("audit-out", { seen: () => [seen] });
  const current = join(auditd.config.auditDir, "current");
  renameSync(current, `${current}.kept`);
  mkdirSync(current);
  await openShard(auditd).catch(() => null);
  t.equal(await auditd.ended(10_000), 1);
  rmSync(current, { recursive: true });
  renameSync(`${current}.kept`, current);
  t.ok(sizeOf(auditd, slug) > 0, "it was begun");

  await startHearing("audit-out", { seen: () => [] });
  t.match(await status(auditd), { origin: ORIGIN, rolledBack: { by: "opening" } });
  t.equal(noteOf(auditd), before, "the old one is not signed");
  t.match(await openShard(auditd), { origin: `box.audit.acme/${slug}`, rolledBack: null });
  const opened = (await readLeaves(auditd.shardDir(slug))).filter(
    ({ type }) => type === "audit.shard.open",
  );
  t.match(
    opened,
    [{ detail: slug === "2026-2" ? { seen_size: seen.size } : { lost: [{ size: seen.size }] } }],
    "once",
  );
  await auditd.stop();
  await startHearing("audit-out", { seen: () => [] });
  t.match(
    await status(auditd),
    { origin: `box.audit.acme/${slug}`, rolledBack: null },
    "and that is all",
  );
}

t.test(
  "keys of a shard that was begun later are not begun with again, however far it is",
  async (t) => {
    const { auditd, startHearing, putBack } = await log(t);
    const { keysDir } = auditd.config;
    // A turn, then a restore: of those keys the last shard's alone are left.
    for (const kind of ["ed25519", "ml-dsa-44"])
      renameSync(join(keysDir, `2026.${kind}.pem`), join(keysDir, `2027-2.${kind}.pem`));
    auditd.clockMs = JANUARY;
    putBack();
    await startHearing("audit-out", { seen: () => [] });
    t.match(await status(auditd), { rolledBack: { by: "keys" } });
    t.match(await openShard(auditd), { origin: "box.audit.acme/2027-3" });
    t.match((await readLeaves(auditd.shardDir("2027-3")))[0]?.detail, {
      lost: [{ origin: "box.audit.acme/2027-2" }],
    });
  },
);

t.test("where nobody vouches for the clock a prepared shard may have been begun", async (t) => {
  for (const [synced, slug] of [
    [true, "2026-2"],
    [false, "2027-2"],
  ] as const) {
    const { auditd, putBack } = await log(t, { clockMs: DECEMBER, synced });
    putBack();
    markRestored(auditd);
    await auditd.start();
    t.match(await openShard(auditd), { origin: `box.audit.acme/${slug}` });
    await auditd.stop();
  }
});

t.test("an acknowledgement of the new shard is no loss of the old one's", async (t) => {
  const { auditd, connect, startHearing, putBack, lost } = await log(t);
  putBack();
  await startHearing("coordinator-gate", { highestAck: lost });
  await openShard(auditd);
  const gate = await connect("coordinator-gate", { highestAck: lost, firstPseq: 32 });
  t.equal(gate.draining, false);
  await gate.covered((await gate.fact(keyList())).index);
  const backup = join(auditd.root, "second");
  await auditd.copyTo(backup);
  const acks = await Promise.all([1, 2, 3, 4].map(() => gate.fact(keyList())));
  const highestAck = acks.at(-1)!;
  t.ok(highestAck.index < lost.index, "a loss by its index");
  await gate.covered(highestAck.index);
  await gate.close();
  await auditd.stop("SIGKILL");
  rmSync(auditd.config.auditDir, { recursive: true });
  renameSync(backup, auditd.config.auditDir);
  await startHearing("coordinator-gate", { highestAck });
  t.match(await status(auditd), {
    rolledBack: { by: "coordinator-gate", seenSize: highestAck.index + 1 },
  });
});

t.test(
  "a producer that was silent since before the shard before loses nothing by it",
  async (t) => {
    const { auditd, connect, startHearing, putBack, kept, lost } = await log(t, {
      clockMs: DECEMBER,
      synced: true,
    });
    putBack();
    await startHearing("coordinator-gate", { highestAck: lost });
    t.match(await openShard(auditd), { origin: `${ORIGIN}-2` });
    await until(async () => existsSync(join(auditd.config.keysDir, "2027.ed25519.pem")));
    await auditd.stop();
    auditd.clockMs = JANUARY;
    await startHearing("audit-out", { seen: () => [] });
    await until(() => auditd.currentSlug === "2027");
    for (const [name, highestAck] of [
      ["vault", kept],
      ["coordinator-gate", lost],
    ] as const) {
      const producer = await connect(name, { highestAck, firstPseq: 32 });
      t.equal(producer.draining, false, `${name} holds what is there, or known to be lost`);
      await producer.close();
    }
    await auditd.stop();
    t.same(
      (await readLeaves(auditd.shardDir("2027"))).filter(
        ({ type, object }) => type === "audit.lost" && object.id === "vault",
      ),
      [],
    );
    // A short shard: the older one's indices are above its size.
    await startHearing("vault", { highestAck: { ...kept } });
    t.match(await status(auditd), { origin: "box.audit.acme/2027", rolledBack: null });
  },
);

t.test(
  "a folder that was put back on another host is opened anew, by its mark alone",
  async (t) => {
    const { auditd, putBack } = await log(t);
    putBack();
    for (const name of readdirSync(auditd.config.keysDir))
      if (name.endsWith(".pem")) rmSync(join(auditd.config.keysDir, name));
    await t.rejects(auditd.start(), /ConfigError/, "keys that are gone are no sign of a restore");
    markRestored(auditd);
    await auditd.start();
    const { rolledBack } = (await auditd.control({ verb: "status" })) as {
      rolledBack: { by: string };
    };
    t.equal(rolledBack.by, "keys");
    await auditd.control({ verb: "open-shard", approvers: APPROVERS });
    t.equal(auditd.currentSlug, "2026-2");
    t.notOk(existsSync(join(auditd.config.auditDir, "restored")));
    await auditd.stop();
    await auditd.start();
    const status = (await auditd.control({ verb: "status" })) as { rolledBack: null };
    t.equal(status.rolledBack, null, "the next start goes on");
  },
);

t.test(
  "what was put back beside the log says what it holds of it, before its process can",
  async (t) => {
    const { auditd, connect, putBack, kept, lost } = await log(t);
    putBack();
    markRestored(auditd, '{"acknowledged":[{"prod":"coordinator-gate"}]}');
    await t.rejects(auditd.start(), /ConfigError.*restored/, "one that nobody understands");
    const acknowledged = [
      { prod: "vault", ...kept },
      { prod: "coordinator-gate", ...lost },
    ];
    markRestored(auditd, JSON.stringify({ acknowledged }));
    await auditd.start();
    t.match(await status(auditd), {
      rolledBack: { by: "coordinator-gate", seenSize: lost.index + 1 },
    });
    await openShard(auditd);
    const gate = await connect("coordinator-gate", { highestAck: lost, boot: "again" });
    await gate.fact(keyList());
    await gate.close();
    t.match(await verified(auditd), {
      verdicts: { COMPLETENESS: { verdict: "PASS", reason: /RECOVERED: entries .* were lost/ } },
    });
    await auditd.stop();
  },
);
