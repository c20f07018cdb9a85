import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { connectProducer } from "@resontech/audit/producer";
import { AuditdFixture, startedAuditd } from "./helper/auditd-fixture.ts";
import { keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";

/** A stopped log of some 600 leaves. */
/** @param running to fill; one of its own otherwise */
async function stoppedLog(
  t: Test,
  stop: NodeJS.Signals = "SIGTERM",
  running?: AuditdFixture,
): Promise<AuditdFixture> {
  const auditd = running ?? (await startedAuditd(t));
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  const acks = await Promise.all(Array.from({ length: 600 }, () => producer.fact(keyList())));
  await producer.covered(acks.at(-1)!.index);
  await producer.close();
  await auditd.stop(stop);
  return auditd;
}

const refusesToStart = (t: Test, auditd: AuditdFixture, what: RegExp, message: string) =>
  t.rejects(auditd.start(), { message: what }, message);

t.test("does not start on a log that is damaged, and names the leaf", async (t) => {
  const auditd = await stoppedLog(t);
  const { logDir } = auditd;
  const damages: [string, RegExp, (path: string) => void][] = [
    ["checkpoint", /checkpoint/, (path) => rmSync(path)],
    [
      "checkpoint",
      /not signed by both keys/,
      (path) => rewrite(path, (bytes) => flip(bytes, bytes.indexOf("\n") + 1)),
    ],
    ["tile/0/002.p", /tile\/0\/002/, (path) => rmSync(path, { recursive: true })],
    [
      "tile/1/000.p/2",
      /root of the checkpoint/,
      (path) => rewrite(path, (bytes) => flip(bytes, 0)),
    ],
    [
      `tile/entries/002.p/${auditd.checkpointSize() % 256}`,
      /first leaf concerned: 5\d\d/,
      (path) => rewrite(path, (bytes) => flip(bytes, 40)),
    ],
  ];
  for (const [file, message, damage] of damages) {
    const path = join(logDir, file);
    const kept = `${path}.kept`;
    if (statSync(path).isDirectory()) {
      renameSync(path, kept);
      await refusesToStart(t, auditd, message, file);
      renameSync(kept, path);
      continue;
    }
    const sound = readFileSync(path);
    damage(path);
    await refusesToStart(t, auditd, message, file);
    rmSync(path, { force: true });
    writeFileSync(path, sound);
  }
  await auditd.start();
  t.equal(await auditd.stop(), 0, "restored byte for byte, it starts");
});

t.test(
  "reads every leaf again when its short cut is missing or damaged, and stops at one that is not its tile's",
  async (t) => {
    const auditd = await stoppedLog(t);
    const ledger = join(auditd.logDir, "ledger");
    const first = join(auditd.logDir, "tile/entries/000");
    rewrite(ledger, (bytes) => flip(bytes, 100));
    await auditd.start();
    await auditd.stop();
    rmSync(ledger);
    const sound = readFileSync(first);
    rewrite(first, (bytes) => flip(bytes, 5));
    await refusesToStart(t, auditd, /first leaf concerned: 0/, "full scan");
    rmSync(first);
    writeFileSync(first, sound);
    await auditd.start();
    t.equal(await auditd.stop(), 0);
  },
);

t.test("cuts an incomplete last batch and says so in the log", async (t) => {
  const auditd = await stoppedLog(t, "SIGKILL");
  const folder = join(auditd.logDir, "wal");
  const segment = join(folder, readdirSync(folder).sort().at(-1)!);
  const bytes = readFileSync(segment);
  const last = bytes.lastIndexOf("RTW1");
  const end = bytes.findLastIndex((byte) => byte !== 0) + 1;
  // A batch of which only the beginning came to the disk, behind the ones that are whole.
  bytes.copy(bytes, Math.ceil(end / 16) * 16, last, last + 60);
  writeFileSync(segment, bytes);
  await auditd.start();
  await auditd.stop();
  const leaves = await readLeaves(auditd.logDir);
  t.match(
    leaves.filter(({ type }) => type === "audit.wal.cut"),
    [{ detail: { index: Number, bytes: 60 } }],
  );
});

t.test("a log is made by init alone, once, with a key that nobody else can read", async (t) => {
  const made = new AuditdFixture(temporaryFolder(t));
  t.teardown(() => made.stop("SIGKILL"));
  t.match(made.init(), { created: true }, "by the program that ships");
  await made.start();
  const auditd = await stoppedLog(t, "SIGTERM", made);
  const { keyFile, logDir } = auditd;
  const { policyFile } = auditd.config;
  t.equal(statSync(keyFile).mode & 0o777, 0o400);
  t.equal(statSync(policyFile).mode & 0o777, 0o444);
  t.match(
    readFileSync(policyFile, "utf8"),
    /^log box\.audit\.acme\/20[0-9]{2}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{44}\nlog box\.audit\.acme\/20[0-9]{2}\+[0-9a-f]{8}\+[A-Za-z0-9+/]{1751}=\nquorum none\n$/,
  );
  t.match(auditd.init(), { created: false }, "safe to repeat");
  rmSync(join(logDir, "disclosures"), { recursive: true, force: true });
  chmodSync(keyFile, 0o440);
  await refusesToStart(t, auditd, /open to others/, "key readable by its group");
  chmodSync(keyFile, 0o400);
  rmSync(keyFile);
  t.throws(() => auditd.init(), /its key .* is gone/);
  rmSync(logDir, { recursive: true });
  await refusesToStart(t, auditd, /ConfigError|log\.key/, "no key, no start");
});

t.test("a log is made on its day alone: a disk that was wiped begins no new one", async (t) => {
  const wiped = await stoppedLog(t);
  rmSync(wiped.logDir, { recursive: true });
  t.throws(() => wiped.init(), /is gone; it holds the log/);
  rmSync(wiped.config.auditDir, { recursive: true });
  const later = new AuditdFixture(wiped.root, { inception: "2026-01-31" });
  t.throws(() => later.init(), /one is made on 2026-01-31 alone/);
  await refusesToStart(t, later, /made only by `init`/, "nothing there");
});

t.test("one log has one writer", async (t) => {
  const auditd = await startedAuditd(t);
  const second = new AuditdFixture(auditd.root);
  t.teardown(() => second.stop("SIGKILL"));
  await refusesToStart(
    t,
    second,
    /AlreadyRunningError: another process works on/,
    "while the first runs",
  );
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  t.match(await producer.fact(keyList()), { index: Number }, "the first is not disturbed");
});

t.test("stops at once when the segment that it writes is removed", async (t) => {
  const auditd = await startedAuditd(t);
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  await producer.fact(keyList());
  const folder = join(auditd.logDir, "wal");
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  await producer.fact(keyList()).catch(() => {});
  t.equal(await auditd.ended(5_000), 1);
  t.match(auditd.output, /removed from its folder/);
  await producer.close();
});

t.test(
  "a log that was put back to an older state is found by the acknowledgement that a producer kept",
  async (t) => {
    const auditd = await startedAuditd(t);
    const { logDir } = auditd;
    const older = join(auditd.root, "older");
    await using producer = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-1",
    });
    await producer.covered((await producer.fact(keyList())).index);
    cpSync(logDir, older, { recursive: true });
    const later = await Promise.all(Array.from({ length: 300 }, () => producer.fact(keyList())));
    await producer.close();
    await auditd.stop();
    rmSync(logDir, { recursive: true });
    renameSync(older, logDir);
    await auditd.start();
    await using back = await connectProducer({
      socketPath: auditd.socket("appliance"),
      boot: "b-2",
      highestAck: later.at(-1)!,
    });
    t.equal(back.draining, true);
    await back.close();
    await auditd.stop();
    const lost = (await readLeaves(logDir)).filter(({ type }) => type === "audit.lost");
    t.match(lost, [
      { detail: { index: later.at(-1)!.index, leaf_sha256: later.at(-1)!.leafHash } },
    ]);
  },
);

t.test("files of a later state are never overwritten", async (t) => {
  const auditd = await startedAuditd(t, { checkpointMs: 10 });
  const checkpoint = join(auditd.logDir, "checkpoint");
  const older = readFileSync(checkpoint);
  await using producer = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-1",
  });
  for (let n = 0; n < 5; n++) await producer.covered((await producer.fact(keyList())).index);
  await producer.close();
  await auditd.stop("SIGKILL");
  rmSync(checkpoint);
  writeFileSync(checkpoint, older);
  const folder = join(auditd.logDir, "wal");
  const names = readdirSync(folder);
  for (const name of names) rmSync(join(folder, name));
  await refusesToStart(t, auditd, /the write-ahead log is missing/, "no segment at all");
  writeFileSync(join(folder, names[0]!), Buffer.alloc(4_096));
  await auditd.start().catch(() => {});
  await using again = await connectProducer({
    socketPath: auditd.socket("appliance"),
    boot: "b-2",
    connectTimeoutMs: 500,
  }).catch(() => null);
  for (let n = 0; n < 5; n++) await again?.fact(keyList()).catch(() => {});
  t.equal(await auditd.ended(5_000), 1);
  t.match(auditd.output, /exists with other bytes/);
  await again?.close();
});

t.test("what a killed life left of files that it was writing is removed by the next", async (t) => {
  const auditd = await stoppedLog(t);
  const { logDir, root } = auditd;
  const { auditDir, keysDir } = auditd.config;
  mkdirSync(join(logDir, "checkpoints"), { recursive: true });
  const beside = (file: string) => `${file}.0123456789abcdef.new`;
  const left = [
    join(auditDir, "current"),
    join(keysDir, "2026.ed25519.pem"),
    join(logDir, "checkpoint"),
    join(logDir, "ledger"),
    join(logDir, "checkpoints/300"),
    join(logDir, "tile/entries/003"),
    join(logDir, "tile/0/003"),
    auditd.config.policyFile,
  ].map(beside);
  const others = [beside(join(root, "other")), `${auditd.config.policyFile}.mine.new`];
  for (const file of [...left, ...others]) writeFileSync(file, "half a f");
  await auditd.start();
  await auditd.stop();
  t.same(left.filter(existsSync), []);
  t.same(others.filter(existsSync), others, "what is not its own stays");
});

/** Always another byte, whatever a random hash has there. */
function flip(bytes: Buffer, at: number): void {
  bytes.writeUInt8(bytes.readUInt8(at) ^ 1, at);
}

function rewrite(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path);
  change(bytes);
  rmSync(path);
  writeFileSync(path, bytes);
}
