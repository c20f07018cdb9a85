import {
  existsSync,
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { DiskGuard } from "../src/host/disk-guard.ts";
import { connectProducer, type LeafRef } from "@resontech/audit/producer";
import { AuditdFixture } from "./helper/auditd-fixture.ts";
import { jobSubmit, keyList } from "@resontech/audit/testing/event-drafts";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { lacksMount, SmallDisk } from "@resontech/audit/testing/small-disk";

const MIB = 1_048_576;

/** One with 4 MiB of ballast in two steps, on a file system of 24 MiB that goes with the test. `small` changes its size. */
async function auditdOnSmallDisk(t: Test) {
  const root = temporaryFolder(t);
  const small = new SmallDisk(t, 24 * MIB);
  const disk = small.folder;
  const auditd = new AuditdFixture(root, {
    auditDir: join(disk, "audit"),
    ballastBytes: 4 * MIB,
    ballastStepBytes: 2 * MIB,
    segmentBytes: 2 * MIB,
  });
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  await auditd.start();
  return { auditd, disk, small };
}

t.test(
  "a disk that fills up: drain first, then ballast, then fail closed; nothing acknowledged is lost",
  { skip: lacksMount },
  async (t) => {
    const { auditd, disk, small } = await auditdOnSmallDisk(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    await producer.requested(jobSubmit());
    while (readdirSync(join(disk, "audit/ballast")).length < 2) await sleep(100);
    const acknowledged: LeafRef[] = [];
    const failures: unknown[] = [];
    let sawRefusalOfNewWork = false;
    while (failures.length === 0) {
      await Promise.all(
        Array.from({ length: 200 }, () =>
          producer.fact(keyList()).then((ref) => acknowledged.push(ref)),
        ),
      ).catch((error: unknown) => failures.push(error));
      if (producer.draining && !sawRefusalOfNewWork) {
        await t.rejects(
          producer.requested(jobSubmit()),
          { code: "audit_unavailable", reason: "draining" },
          "new work is refused",
        );
        sawRefusalOfNewWork = true;
      }
    }
    t.ok(sawRefusalOfNewWork, "drained before the end");
    t.match(failures[0], { code: "audit_unavailable" });
    t.equal(await auditd.ended(5_000), 1, "auditd ended rather than go on");
    t.match(auditd.output, /ENOSPC/);
    await t.rejects(producer.fact(keyList()), { code: "audit_unavailable" });
    small.resize(96 * MIB);
    await auditd.start();
    while (!producer.connected) await sleep(20);
    t.match(await producer.fact(keyList()), { index: Number }, "with room it goes on");
    await producer.close();
    t.equal(await auditd.stop(), 0);
    const leaves = await readLeaves(auditd.logDir);
    t.ok(
      acknowledged.every(({ index }) => leaves[index]?.type === "key.list"),
      `${acknowledged.length} acknowledged events are there`,
    );
    t.ok(
      leaves.some(({ type, detail }) => type === "audit.disk" && detail?.["draining"] === true),
      "the log says that it drained",
    );
  },
);

t.test(
  "a disk that fills up at once costs ballast, not auditd: it goes on, drains, and takes the ballast back when there is room",
  { skip: lacksMount },
  async (t) => {
    const { auditd, disk } = await auditdOnSmallDisk(t);
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    const ballast = () =>
      readdirSync(join(disk, "audit/ballast")).filter((name) => name.endsWith(".zero")).length;
    while (ballast() < 2) await sleep(100);
    const filler = join(disk, "filler");
    t.throws(() => writeFileSync(filler, Buffer.alloc(24 * MIB)), { code: "ENOSPC" });
    const { bavail } = statfsSync(disk);
    t.equal(bavail, 0, "nothing is left");
    for (let round = 0; round < 20; round++) {
      const refs = await Promise.all(Array.from({ length: 20 }, () => producer.fact(keyList())));
      await producer.covered(refs.at(-1)?.index ?? 0);
    }
    t.ok(ballast() < 2, "ballast was given up");
    while (!producer.draining) await sleep(20);
    rmSync(filler);
    while (producer.draining || ballast() < 2) await sleep(100);
    t.match(await producer.requested(jobSubmit()), { index: Number }, "new work again");
    await producer.close();
    t.equal(await auditd.stop(), 0);
    const told = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.disk");
    t.same(
      told.map(({ detail }) => detail?.["draining"]),
      [true, false],
    );
  },
);

t.test(
  "a disk that runs out of inodes drains as one that runs out of bytes, and ends that when there are some",
  { skip: lacksMount },
  async (t) => {
    const { folder } = new SmallDisk(t, 96 * MIB, 6_000);
    const auditd = new AuditdFixture(temporaryFolder(t), {
      auditDir: join(folder, "audit"),
      segmentBytes: 2 * MIB,
    });
    auditd.init();
    t.teardown(() => auditd.stop("SIGKILL"));
    await auditd.start();
    await using producer = await connectProducer({
      socketPath: auditd.socket("coordinator-gate"),
      boot: "b",
    });
    const { op } = jobSubmit();
    await producer.requested(jobSubmit(op));
    const filler = join(folder, "filler");
    mkdirSync(filler);
    for (let file = 0; file < 2_500; file++) writeFileSync(join(filler, `${file}`), "");
    t.ok(
      statfsSync(folder).bavail * statfsSync(folder).bsize > 64 * MIB,
      "there is room for bytes",
    );
    while (!producer.draining) await sleep(20);
    await t.rejects(producer.requested(jobSubmit()), {
      code: "audit_unavailable",
      reason: "draining",
    });
    t.match(
      await producer.outcome({ ...jobSubmit(op), phase: "completed", outcome: { code: "ok" } }),
      { index: Number },
      "what runs ends",
    );
    rmSync(filler, { recursive: true });
    while (producer.draining) await sleep(20);
    t.match(await producer.requested(jobSubmit()), { index: Number }, "new work again");
    await producer.close();
    t.equal(await auditd.stop(), 0);
    const told = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "audit.disk");
    t.same(
      told.map(({ detail }) => detail?.["draining"]),
      [true, false],
    );
  },
);

t.test("does not listen where others could knock", async (t) => {
  const auditd = new AuditdFixture(temporaryFolder(t));
  auditd.init();
  t.teardown(() => auditd.stop("SIGKILL"));
  chmodSync(join(auditd.root, "run"), 0o755);
  await t.rejects(auditd.start(), { message: /open to others/ });
});

t.test("a configuration that is wrong names its key", async (t) => {
  for (const [changes, message] of [
    [{ originPrefix: "Box Audit" }, /\/originPrefix/],
    [{ auditDir: "log" }, /\/auditDir/],
    [{ producers: [] }, /\/producers/],
    [{ segmentBytes: 5 }, /\/segmentBytes/],
    [{ colour: "blue" }, /\/colour is not known/],
  ] as const)
    t.throws(() => new AuditdFixture(temporaryFolder(t), changes as object).init(), { message });
});

t.test(
  "a step of ballast whose name a power cut took back is filled again, and none is emptied for it",
  async (t) => {
    const auditDir = temporaryFolder(t);
    const ballast = join(auditDir, "ballast");
    mkdirSync(ballast);
    const step = join(ballast, "000001.zero");
    writeFileSync(step, Buffer.alloc(MIB));
    // A rename that came true by half.
    linkSync(step, `${step}.new`);
    const guard = new DiskGuard(
      { auditDir, ballastBytes: 2 * MIB, ballastStepBytes: MIB, segmentBytes: 2 * MIB },
      () => {},
    );
    const { mtimeMs } = statSync(step);
    for (let check = 0; check < 3; check++) await guard.check();
    t.same(
      readdirSync(ballast)
        .sort()
        .map((name) => [name, statSync(join(ballast, name)).size]),
      [
        ["000000.zero", MIB],
        ["000001.zero", MIB],
        ["000001.zero.new", MIB],
      ],
    );
    t.equal(statSync(step).mtimeMs, mtimeMs, "the one that is there was not written");
  },
);

t.test(
  "a write that failed before another was given the last step of ballast is tried again",
  async (t) => {
    const auditDir = temporaryFolder(t);
    const step = join(auditDir, "ballast", "000000.zero");
    mkdirSync(join(auditDir, "ballast"));
    writeFileSync(step, Buffer.alloc(MIB));
    const guard = new DiskGuard(
      { auditDir, ballastBytes: MIB, ballastStepBytes: MIB, segmentBytes: MIB },
      () => {},
    );
    const full = Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    const hasRoom = () => !existsSync(step);
    const first = guard.withRoom(async () => {
      if (!hasRoom()) throw full;
      return "first";
    });
    let tries = 0;
    const second = guard.withRoom(async () => {
      tries += 1;
      if (tries > 1) return "second";
      // It found the disk full; before it says so, the other has been given what there was.
      while (!hasRoom()) await sleep(1);
      throw full;
    });
    t.same(await Promise.all([first, second]), ["first", "second"]);
    await t.rejects(
      guard.withRoom(async () => {
        throw full;
      }),
      { code: "ENOSPC" },
      "a full disk is one once no ballast is left",
    );
  },
);
