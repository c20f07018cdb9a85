/** Plans are recorded with what they were made from, and come out the same when they are made again; what was changed or cut is told. */
import { readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandom } from "@resontech/house/seeded-random";
import t from "tap";
import { type Plan, plan, type Snapshot } from "../../src/kernel/decisions/placement.ts";
import { PlanNotRecorded, PlanRecordDamaged } from "../../src/kernel/errors.ts";
import { PlanFiles } from "../../src/kernel/plan-files.ts";
import { PlanRecorder } from "../../src/kernel/plan-recorder.ts";
import { PlanReplays } from "../../src/kernel/plan-replays.ts";
import { runFleetHistory } from "./histories/fleet-history.ts";
import { runKernelHistory } from "./histories/kernel-history.ts";

const MINUTE = 60_000;

function recorderOf(files: PlanFiles, errors: unknown[] = [], monotonic = () => 0): PlanRecorder {
  return new PlanRecorder({
    ...{ files, release: "1.2.3", monotonic },
    onError: (error) => errors.push(error),
  });
}

/** Plans of a made history, each with what it was made from. */
function plansOf(seed: number, events = 12): { snapshot: Snapshot; planned: Plan }[] {
  const made: { snapshot: Snapshot; planned: Plan }[] = [];
  runFleetHistory(seed, events, (snapshot) => {
    const planned = plan(snapshot);
    made.push({ snapshot, planned });
    return planned;
  });
  return made;
}

async function recordAll(recorder: PlanRecorder, seed: number): Promise<void> {
  let at = 0;
  for (const { snapshot, planned } of plansOf(seed)) {
    recorder.note(snapshot, planned, (at += 1));
    await recorder.idle();
  }
}

function onlyFile(folder: string): string {
  return join(folder, readdirSync(folder).at(-1)!);
}

t.test("plans of made histories of fleets come out the same, byte by byte", async (t) => {
  const files = new PlanFiles(join(t.testdir(), "records"));
  const errors: unknown[] = [];
  const recorder = recorderOf(files, errors);
  for (const seed of [1, 2, 3, 4, 5, 6, 7, 136, 227, 284]) await recordAll(recorder, seed);
  await recorder.close();
  t.same(errors, []);
  const replays = new PlanReplays(files);
  const { plans, unread } = await replays.list(10_000, null);
  t.same(unread, []);
  t.same(
    plans.map(({ number }) => number),
    Array.from(plans, (_, at) => plans.length - at),
  );
  const decided = { placements: 0, replacements: 0, preemptions: 0, reserved: 0 };
  for (const { decisions } of plans)
    for (const kind of ["placements", "replacements", "preemptions", "reserved"] as const)
      decided[kind] += decisions[kind].length;
  t.ok(
    Object.values(decided).every((count) => count > 0),
    JSON.stringify(decided),
  );
  const differing: number[] = [];
  for (const { number, missed } of plans) {
    const { isSame } = await replays.replay(number, null);
    if (!isSame || missed > 0) differing.push(number);
  }
  t.same(differing, []);
});

t.test("so do plans that the scheduler made on its database, restarts included", async (t) => {
  const files = new PlanFiles(join(t.testdir(), "records"));
  const errors: unknown[] = [];
  const seeds = [1, 2, 3, Date.now() % 1_000_000_007];
  for (const seed of seeds) {
    // Another process each time: numbers go on.
    const recorder = recorderOf(files, errors);
    await runKernelHistory(seed, 20, recorder);
    await recorder.close();
  }
  t.same(errors, []);
  const replays = new PlanReplays(files);
  const { plans } = await replays.list(10_000, null);
  t.ok(plans.length > 10, String(plans.length));
  t.equal(new Set(plans.map(({ number }) => number)).size, plans.length);
  for (const { number, decisions } of plans) {
    const { isSame, job } = await replays.replay(
      number,
      (jobs) => [...jobs].find((id) => id === decisions.placements[0]?.job) ?? "job-of-nobody",
    );
    t.ok(isSame, `plan ${number} of the seeds ${seeds.join()}`);
    const workers = decisions.placements[0]?.workers;
    if (workers !== undefined) t.match(job?.told[0], workers.join(", "));
  }
  const one = plans.find(({ decisions }) => decisions.placements.length > 0)!;
  const job = one.decisions.placements[0]!.job;
  const about = await replays.list(10_000, job);
  t.ok(about.plans.some(({ number }) => number === one.number));
  t.ok(about.plans.length < plans.length);
});

t.test("equal inputs have equal digests, others have others", async (t) => {
  const folder = t.testdir();
  const [a, b] = [new PlanFiles(join(folder, "a")), new PlanFiles(join(folder, "b"))];
  const first = recorderOf(a);
  await recordAll(first, 5);
  // The second knows another history before.
  const second = recorderOf(b);
  await recordAll(second, 6);
  const before = (await new PlanReplays(b).list(10_000, null)).plans.length;
  await recordAll(second, 5);
  const inputs = async (files: PlanFiles) =>
    (await new PlanReplays(files).list(10_000, null)).plans.map(({ input }) => input).toReversed();
  const ofFirst = await inputs(a);
  t.same((await inputs(b)).slice(before), ofFirst);
  t.ok(new Set(ofFirst).size > 1);
  await first.close();
  await second.close();
});

t.test(
  "a changed byte is told, wherever it is, and what comes before is not touched by it",
  async (t) => {
    const folder = join(t.testdir(), "records");
    const files = new PlanFiles(folder);
    const recorder = recorderOf(files);
    await recordAll(recorder, 2);
    await recorder.close();
    const path = onlyFile(folder);
    const good = readFileSync(path);
    const replays = new PlanReplays(files);
    const { plans } = await replays.list(10_000, null);
    const random = seededRandom(Date.now() % 1_000_000_007);
    for (let n = 0; n < 60; n += 1) {
      const at = Math.floor(random() * good.length);
      const bad = Buffer.from(good);
      bad[at] = bad[at]! ^ (1 << Math.floor(random() * 8));
      writeFileSync(path, bad);
      const found = await replays.list(10_000, null);
      const damaged = found.plans.filter(({ isDamaged }) => isDamaged);
      t.ok(found.unread.length + damaged.length > 0, `byte ${at}`);
      const whole = found.plans.filter(({ isDamaged }) => !isDamaged).map(({ number }) => number);
      for (const { number } of [
        plans[0]!,
        plans.at(-1)!,
        ...(damaged.at(-1) === undefined ? [] : [damaged.at(-1)!]),
      ])
        if (whole.includes(number)) t.ok((await replays.replay(number, null)).isSame);
        else await t.rejects(replays.replay(number, null), PlanRecordDamaged);
    }
    writeFileSync(path, good);
    t.same((await replays.list(10_000, null)).unread, []);
  },
);

t.test("a record that was cut by a kill is told as cut, and the rest is read", async (t) => {
  const folder = join(t.testdir(), "records");
  const files = new PlanFiles(folder);
  const recorder = recorderOf(files);
  await recordAll(recorder, 3);
  await recorder.close();
  const path = onlyFile(folder);
  const whole = statSync(path).size;
  const replays = new PlanReplays(files);
  const { plans } = await replays.list(10_000, null);
  const last = plans[0]!.number;
  for (const less of [1, 2, 40]) {
    truncateSync(path, whole - less);
    const found = await replays.list(10_000, null);
    t.match(found.unread, [{ why: "cut", after: last - 1 }]);
    t.equal(found.plans[0]?.number, last - 1);
    t.ok((await replays.replay(last - 1, null)).isSame);
    await t.rejects(replays.replay(last, null), PlanRecordDamaged);
  }
  // The next process goes on beside it, and gives nobody the number of what was cut.
  const next = recorderOf(files);
  await recordAll(next, 3);
  await next.close();
  const after = await replays.list(10_000, null);
  t.equal(after.unread.length, 1);
  t.equal(after.plans.filter(({ number }) => number === last).length, 0);
  t.equal(after.plans[0]?.number, last + plans.length);
  t.ok((await replays.replay(after.plans[0]!.number, null)).isSame);
});

t.test(
  "what is full ends the records and no plan; they begin again, and say what is missing",
  async (t) => {
    class FullDisk extends PlanFiles {
      isFull = false;
      override async append(number: number, bytes: Buffer): Promise<void> {
        if (!this.isFull) return await super.append(number, bytes);
        await super.close();
        throw Object.assign(new Error("no space left"), { code: "ENOSPC" });
      }
    }
    const files = new FullDisk(join(t.testdir(), "records"));
    const errors: unknown[] = [];
    let now = 0;
    const recorder = recorderOf(files, errors, () => now);
    await recordAll(recorder, 1);
    const replays = new PlanReplays(files);
    const before = (await replays.list(10_000, null)).plans.length;
    files.isFull = true;
    const lost = plansOf(2).filter(({ planned }) => planned.placements.length > 0);
    for (const { snapshot, planned } of lost) {
      recorder.note(snapshot, planned, 1);
      await recorder.idle();
    }
    t.equal(recorder.state, "full");
    t.equal(errors.length, 1, "it is told once");
    files.isFull = false;
    recorder.note(lost[0]!.snapshot, lost[0]!.planned, 1);
    await recorder.idle();
    t.equal(recorder.state, "full", "nothing is tried for a minute");
    now += MINUTE;
    recorder.note(lost[0]!.snapshot, lost[0]!.planned, 1);
    await recorder.close();
    t.equal(recorder.state, "ok");
    const { plans } = await replays.list(10_000, null);
    t.equal(plans.length, before + 1);
    t.equal(plans[0]?.missed, lost.length + 1);
    t.ok((await replays.replay(plans[0]!.number, null)).isSame);
  },
);

t.test("a folder that can't be made fails the records alone", async (t) => {
  const dir = t.testdir({ "no-folder": "" });
  const errors: unknown[] = [];
  const recorder = recorderOf(new PlanFiles(join(dir, "no-folder", "records")), errors);
  await recordAll(recorder, 1);
  t.equal(recorder.state, "failing");
  t.ok(errors.length > 0);
  await recorder.close();
});

t.test("the oldest file makes room, and what is too old goes", async (t) => {
  const folder = join(t.testdir(), "records");
  const limits = { fileBytes: 4_000, keptBytes: 20_000, keptMs: 30 * 24 * 60 * MINUTE };
  const files = new PlanFiles(folder, limits);
  const recorder = recorderOf(files);
  for (let seed = 1; seed <= 8; seed += 1) await recordAll(recorder, seed);
  await recorder.close();
  const bytes = readdirSync(folder).reduce(
    (sum, name) => sum + statSync(join(folder, name)).size,
    0,
  );
  t.ok(bytes < 40_000, String(bytes));
  const replays = new PlanReplays(files);
  const { plans } = await replays.list(10_000, null);
  t.ok(readdirSync(folder).length > 1);
  t.ok(plans.at(-1)!.number > 1, "the first are gone");
  for (const { number } of plans) t.ok((await replays.replay(number, null)).isSame);
  await t.rejects(replays.replay(1, null), PlanNotRecorded);
  await t.rejects(replays.replay(1_000_000, null), PlanNotRecorded);
  await files.prune(Date.now() + limits.keptMs + MINUTE);
  t.same(readdirSync(folder), []);
});

t.test(
  "whoever plans faster than can be written down goes on, and what was left out is counted",
  async (t) => {
    const files = new PlanFiles(join(t.testdir(), "records"));
    const recorder = recorderOf(files);
    const decided = plansOf(1).filter(({ planned }) => planned.placements.length > 0);
    const [one] = decided;
    for (let n = 0; n < 20; n += 1) recorder.note(one!.snapshot, one!.planned, n);
    await recorder.idle();
    recorder.note(one!.snapshot, one!.planned, 20);
    await recorder.close();
    const { plans } = await new PlanReplays(files).list(100, null);
    t.equal(plans.length, 9);
    t.equal(plans[0]?.missed, 12);
  },
);

t.test("plans that decide nothing are not recorded, nor the same reservation twice", async (t) => {
  const files = new PlanFiles(join(t.testdir(), "records"));
  const recorder = recorderOf(files);
  const { snapshot, planned } = plansOf(1)[0]!;
  const none: Plan = { placements: [], replacements: [], preemptions: [], waiting: [] };
  recorder.note(snapshot, none, 1);
  await recorder.idle();
  t.same((await new PlanReplays(files).list(100, null)).plans, []);
  const reserving = plansOf(1, 60)
    .concat(plansOf(2, 60), plansOf(4, 60))
    .find(
      ({ planned: each }) =>
        each.placements.length + each.replacements.length + each.preemptions.length === 0 &&
        each.waiting.some(({ why }) => why.includes("are reserved for it")),
    );
  t.ok(reserving !== undefined);
  if (reserving === undefined) return;
  for (let n = 0; n < 3; n += 1) {
    recorder.note(reserving.snapshot, reserving.planned, n);
    await recorder.idle();
  }
  await recorder.close();
  const { plans } = await new PlanReplays(files).list(100, null);
  t.equal(plans.length, 1);
  t.equal(plans[0]?.decisions.reserved.length, 1);
  t.ok(planned);
});
