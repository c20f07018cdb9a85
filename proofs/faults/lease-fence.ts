/**
 * A node that is lost in the middle of a federated job: its agent killed and its network cut at once, at a seeded moment. Its containers must
 * be ended by their own PID 1, the job's next attempt placed on the other node, an upload that the lost member had open be worth nothing any
 * more, and training go on from the last committed round. Times from the cut, as a distribution.
 *
 * `npm run prove -- lease-fence [RUNS [SEED]]` (20 runs unless said)
 */
import { setTimeout as sleep } from "node:timers/promises";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { runningMembers } from "@resontech/house/member-containers";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { HostsEntry } from "@resontech/house/hosts-entry";
import { NetworkNamespace } from "@resontech/house/network-namespace";
import { SecondNode } from "@resontech/house/second-node";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import { spread } from "../statistics.ts";
import type { Harm, Harmed } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { isByLease, type LeaseDeath, untilDead } from "./judge/lease-death.ts";
import { type FencedMember, OpenOutput } from "./lease-fence/open-output.ts";

/** Before the other by name, so that of two equal nodes this one is taken. */
const NODE = "a-node";
/** Five rounds of 8 s are left after the latest cut: no member ends by itself before its lease does. */
const JOB = { rounds: 7, ticks: 16 };
const CUT_WITHIN_S = 8;
/** The server and two sites. */
const MEMBERS = 3;
const JOB_LIMIT_MS = 300_000;
const READY_LIMIT_MS = 60_000;
/** KERNEL "Leases", counted from the last beat, which was before the cut. */
const RUNS_BY_S = 45;

type Db = ReturnType<RecordedJobs["open"]>;
type Lost = {
  cutAfterCommitS: number;
  death: LeaseDeath;
  fencedAfterS: number;
  placedAfterS: number;
  /** Its last member. */
  runsAfterS: number;
  uploadRefused: string;
  committed: number;
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const runs = Number(args[0] ?? 20);
  const seed = Number(args[1] ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  using namespace = NetworkNamespace.make();
  const perimeter = { name: "lease-fence.test", address: namespace.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  await using installed = await ProofAppliance.install(progress, undefined, { perimeter });
  const { appliance } = installed;
  await using second = await SecondNode.start({
    appliance,
    namespace,
    node: NODE,
    cpuWorkers: 2,
    folder: installed.folder("node"),
  });
  await using harmed = await HarmedJobs.open(installed, progress, {
    ...{ limitMs: JOB_LIMIT_MS, isWatched: true },
  });
  const done: Harmed<Lost>[] = [];
  for (let run = 0; run < runs; run += 1)
    done.push(await harmed.through(loss(harmed.jobs, { namespace, second }, run, random)));
  const left = await harmed.leftBehind(() => second.untilNothingIsLeft());
  const audit = await harmed.verify();
  const ok = done.every(({ isGood }) => isGood) && left.length === 0 && isVerified(audit);
  const each = done.map(
    ({ end, seen: { cutAfterCommitS, death, uploadRefused, committed, ...times } }) => ({
      ...{ cutAfterCommitS, ...death, ...times, uploadRefused },
      ...{ state: end.state, attempt: end.attempt, committed, resumedAt: end.resumedAt },
      ...{ doubles: end.doubles, overlaps: end.overlaps, wrongModels: end.wrongModels },
    }),
  );
  const of = (
    name: "leaseEndsAfterS" | "deadAfterS" | "fencedAfterS" | "placedAfterS" | "runsAfterS",
  ) => spread(each.map((run) => run[name]));
  const times = {
    lease_ends_s: of("leaseEndsAfterS"),
    dead_s: of("deadAfterS"),
    fenced_s: of("fencedAfterS"),
    placed_s: of("placedAfterS"),
    runs_s: of("runsAfterS"),
  };
  return { ok, figures: { seed, runs: done.length, ...times, each, left, audit } };
}

/** The second node is killed and cut off at once. */
function loss(
  jobs: RecordedJobs,
  { namespace, second }: { namespace: NetworkNamespace; second: SecondNode },
  run: number,
  random: () => number,
): Harm<Lost> {
  return {
    name: `fence-${run}`,
    job: JOB,
    ready: () => untilReady(jobs),
    happen: async (job, toItsEnd) => {
      await jobs.untilCommitted(job, 0);
      const waitS = random() * CUT_WITHIN_S;
      await sleep(waitS * 1000);
      const lost = membersOf(jobs, job);
      if (lost.length !== MEMBERS || lost.some(({ node_id }) => node_id !== NODE))
        throw new Error(`${job} does not run on ${NODE}`);
      const server = lost.find(({ role }) => role === "server")!;
      const output = await OpenOutput.open(second, server, jobs);
      const members = runningMembers(second.engine.socket);

      const from = Date.now();
      const since = (at: number): number => Math.round((at - from) / 10) / 100;
      namespace.setLink("down");
      await second.kill();
      const node = { socket: second.engine.socket, instance: second.config.instance };
      const death = await untilDead(node, members, from, JOB_LIMIT_MS);
      await jobs.until(
        `the fence of ${server.id}`,
        (db) => fencedAt(db, server.id) !== null,
        JOB_LIMIT_MS,
      );
      await jobs.until(
        `another attempt of ${job}`,
        (db) => placedAt(db, job) !== null,
        JOB_LIMIT_MS,
      );
      const db = jobs.open();
      const [fencedAfterS, placedAfterS] = [
        since(fencedAt(db, server.id) ?? 0),
        since(placedAt(db, job) ?? 0),
      ];
      const committed = lastCommitted(db, job);
      db.close();
      const uploadRefused = await output.tryToEnd();
      await toItsEnd();
      const runsAfterS = since(runsAt(jobs, job));
      namespace.setLink("up");
      // It came and went: whoever looked at it lets it join again.
      await second.rejoin();
      return {
        ...{ cutAfterCommitS: Number(waitS.toFixed(2)), death, fencedAfterS, placedAfterS },
        ...{ runsAfterS, uploadRefused, committed },
      };
    },
    holds: ({ attempt, resumedAt }, lost) =>
      isByLease(lost.death, MEMBERS) &&
      lost.fencedAfterS > lost.death.deadAfterS &&
      lost.runsAfterS <= RUNS_BY_S &&
      lost.uploadRefused === "404, stale_epoch" &&
      attempt === 2 &&
      resumedAt === lost.committed + 1 &&
      resumedAt > 0,
    tell: ({ state, attempt, resumedAt }, { death, fencedAfterS, placedAfterS, ...lost }) =>
      `${run + 1}: lease over after ${death.leaseEndsAfterS} s, dead after ${death.deadAfterS} (exit codes ${death.exitCodes.join()}), ` +
      `fenced ${fencedAfterS}, placed ${placedAfterS}, runs ${lost.runsAfterS}; upload ${lost.uploadRefused}; ` +
      `${state} on attempt ${attempt} from round ${resumedAt}`,
  };
}

async function untilReady(jobs: RecordedJobs): Promise<void> {
  const isReady = (db: Db): boolean => {
    const workers =
      "SELECT count(*) FROM workers JOIN nodes ON nodes.id = node_id WHERE state = 'READY' AND is_cordoned = 0";
    const held = "SELECT count(*) FROM leases WHERE released_at IS NULL";
    return db.prepare(workers).pluck().get() === 4 && db.prepare(held).pluck().get() === 0;
  };
  await jobs.until("both nodes ready and free", isReady, READY_LIMIT_MS);
}

type Member = FencedMember & { node_id: string; role: string };

function membersOf(jobs: RecordedJobs, job: string): Member[] {
  const db = jobs.open();
  try {
    return db
      .prepare<[string], Member>(
        "SELECT id, node_id, role, generation, counter FROM members WHERE job_id = ?",
      )
      .all(job);
  } finally {
    db.close();
  }
}

function fencedAt(db: Db, member: string): number | null {
  return (
    db
      .prepare<[string], number>(
        "SELECT at FROM job_events WHERE member_id = ? AND event = 'fence'",
      )
      .pluck()
      .get(member) ?? null
  );
}

function placedAt(db: Db, job: string): number | null {
  return (
    db
      .prepare<[string], number>("SELECT created_at FROM attempts WHERE job_id = ? AND number = 2")
      .pluck()
      .get(job) ?? null
  );
}

/** When the last member of the second attempt ran. */
function runsAt(jobs: RecordedJobs, job: string): number {
  const db = jobs.open();
  try {
    const asked = `SELECT max(at) FROM job_events JOIN attempts ON attempts.id = attempt_id
      WHERE job_events.job_id = ? AND event = 'run' AND member_id IS NOT NULL AND number = 2`;
    return db.prepare<[string], number | null>(asked).pluck().get(job) ?? Infinity;
  } finally {
    db.close();
  }
}

/** The last round that is stored; -1 where there is none. */
function lastCommitted(db: Db, job: string): number {
  const asked = "SELECT max(round) FROM checkpoints WHERE job_id = ?";
  return db.prepare<[string], number>(asked).pluck().get(job) ?? -1;
}
