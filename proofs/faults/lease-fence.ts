/**
 * A node that is lost in the middle of a federated job: its agent killed and its network cut at once, at a seeded moment. Its containers must
 * be ended by their own PID 1, the job's next attempt placed on the other node, an upload that the lost member had open be worth nothing any
 * more, and training go on from the last committed round. Times from the cut, as a distribution.
 *
 * `npm run prove -- lease-fence [RUNS [SEED]]` (20 runs unless said)
 */
import { createHash, randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { connect } from "@nats-io/transport-node";
import { agentInboxPrefix, agentSubject } from "@resontech/contracts/agent-protocol";
import { HostsEntry } from "../../dev/hosts-entry.ts";
import { untilNothingIsLeft } from "../../dev/leftovers.ts";
import { NetworkNamespace } from "../../dev/network-namespace.ts";
import { SecondNode } from "../../dev/second-node.ts";
import { isVerified, verifyAudit } from "../../dev/verify-audit.ts";
import { ApplianceApi } from "../../dev/appliance-api.ts";
import { openUploads } from "@resontech/house/open-uploads";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { isByLease, type LeaseDeath, untilDead } from "./judge/lease-death.ts";
import { runningMembers } from "@resontech/house/member-containers";
import { doublesOf } from "./judge/doubles.ts";
import { readRecord } from "./judge/record.ts";
import { RecordedJobs } from "@resontech/house/recorded-job";
import { LivingContainers } from "./watch/living-containers.ts";
import { seededRandom } from "../seeded-random.ts";
import { spread } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

/** Before the other by name, so that of two equal nodes this one is taken. */
const NODE = "a-node";
/** Five rounds of 8 s are left after the latest cut: no member ends by itself before its lease does. */
const ROUNDS = 7;
const TICKS = 16;
const CUT_WITHIN_S = 8;
/** The server and two sites. */
const MEMBERS = 3;
const JOB_LIMIT_MS = 300_000;
/** From the fence until the object store knows the upload no more. */
const ABORT_LIMIT_MS = 10_000;
const READY_LIMIT_MS = 60_000;
/** KERNEL "Leases", counted from the last beat, which was before the cut. */
const RUNS_BY_S = 45;

type Db = ReturnType<RecordedJobs["open"]>;
type Run = LeaseDeath & {
  cutAfterCommitS: number;
  fencedAfterS: number;
  placedAfterS: number;
  /** Its last member. */
  runsAfterS: number;
  uploadRefused: string;
  state: string;
  attempt: number;
  committed: number;
  resumedAt: number;
  doubles: string[];
  overlaps: string[];
  wrongModels: string[];
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const runs = Number(args[0] ?? 20);
  const seed = Number(args[1] ?? Date.now() % 1_000_000);
  const random = seededRandom(seed);
  using namespace = NetworkNamespace.make();
  const perimeter = { name: "lease-fence.test", address: namespace.hostAddress };
  using _ = new HostsEntry(perimeter.name, perimeter.address);
  await using installed = await ProofAppliance.install(progress, undefined, { perimeter });
  const { appliance, bundle } = installed;
  await using second = await SecondNode.start({
    appliance,
    namespace,
    node: NODE,
    cpuWorkers: 2,
    folder: installed.folder("node"),
  });
  const jobs = await RecordedJobs.open(appliance, installed.folder("fence"));
  const api = new ApplianceApi(appliance);
  await using living = new LivingContainers();
  const done: Run[] = [];
  try {
    for (let run = 0; run < runs; run += 1) {
      await untilReady(jobs);
      const job = await jobs.submit(`fence-${run}`, { rounds: ROUNDS, ticks: TICKS });
      await jobs.untilCommitted(job, 0);
      const waitS = random() * CUT_WITHIN_S;
      await sleep(waitS * 1000);
      const lost = membersOf(jobs, job);
      if (lost.length !== MEMBERS || lost.some(({ node_id }) => node_id !== NODE))
        throw new Error(`${job} does not run on ${NODE}`);
      const server = lost.find(({ role }) => role === "server")!;
      const upload = await openAs(second, server, jobs);
      const members = runningMembers(second.engine.socket);

      const from = Date.now();
      const since = (at = Date.now()): number => Math.round((at - from) / 10) / 100;
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
      const committed =
        db
          .prepare<[string], number>("SELECT max(round) FROM checkpoints WHERE job_id = ?")
          .pluck()
          .get(job) ?? -1;
      db.close();
      const uploadRefused = await tryUpload(upload, second, server, jobs);
      const task = await api.untilEnded(job, JOB_LIMIT_MS);
      const runsAfterS = since(runsAt(jobs, job));
      const { overlaps, wrongModels, attempts } = readRecord(appliance, job);
      const doubles = doublesOf(jobs, job, await living.seen());
      const resumedAt = attempts.at(-1)?.startRound ?? 0;
      const times = {
        cutAfterCommitS: Number(waitS.toFixed(2)),
        ...death,
        fencedAfterS,
        placedAfterS,
        runsAfterS,
      };
      const outcome = {
        state: task.status,
        attempt: task.detail.attempt,
        committed,
        resumedAt,
        doubles,
        overlaps,
        wrongModels,
      };
      done.push({ ...times, uploadRefused, ...outcome });
      progress(
        `${run + 1}/${runs}: lease over after ${death.leaseEndsAfterS} s, dead after ${death.deadAfterS} (exit codes ${death.exitCodes.join()}), ` +
          `fenced ${fencedAfterS}, placed ${placedAfterS}, runs ${runsAfterS}; upload ${uploadRefused}; ` +
          `${task.status} on attempt ${task.detail.attempt} from round ${resumedAt}`,
      );
      namespace.setLink("up");
      // It came and went: whoever looked at it lets it join again.
      await second.rejoin();
    }
    const left = [
      ...(await untilNothingIsLeft(appliance)),
      ...(await second.untilNothingIsLeft()),
      ...(await openUploads(jobs.workstation)),
    ];
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const ok = done.every(isGood) && left.length === 0 && isVerified(audit);
    const of = (
      name: "leaseEndsAfterS" | "deadAfterS" | "fencedAfterS" | "placedAfterS" | "runsAfterS",
    ) => spread(done.map((run) => run[name]));
    const times = {
      lease_ends_s: of("leaseEndsAfterS"),
      dead_s: of("deadAfterS"),
      fenced_s: of("fencedAfterS"),
      placed_s: of("placedAfterS"),
      runs_s: of("runsAfterS"),
    };
    return { ok, figures: { seed, runs: done.length, ...times, each: done, left, audit } };
  } finally {
    api.close();
  }
}

function isGood(run: Run): boolean {
  return (
    isByLease(run, MEMBERS) &&
    run.fencedAfterS > run.deadAfterS &&
    run.runsAfterS <= RUNS_BY_S &&
    run.uploadRefused === "404, stale_epoch" &&
    run.state === "FINISHED" &&
    run.attempt === 2 &&
    run.resumedAt === run.committed + 1 &&
    run.resumedAt > 0 &&
    run.doubles.length === 0 &&
    run.overlaps.length === 0 &&
    run.wrongModels.length === 0
  );
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

type Member = { id: string; node_id: string; role: string; generation: number; counter: number };

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

type Open = { upload: string; url: string };
const CONTENT = "an output that nobody may complete";

/** Opens an output as the node's own agent would, with its certificate, epoch and fence. */
async function openAs(second: SecondNode, member: Member, jobs: RecordedJobs): Promise<Open> {
  const sha256 = createHash("sha256").update(CONTENT).digest("hex");
  const key = "model_out/checkpoint.pt";
  const reply = await ask(second, "output-open", jobs, member, {
    key,
    sizeBytes: CONTENT.length,
    sha256,
  });
  if (!reply.ok) throw new Error(`no upload was opened: ${JSON.stringify(reply)}`);
  return { upload: String(reply["upload"]), url: (reply["urls"] as string[])[0] ?? "" };
}

/** What becomes of the part, once the upload was aborted, and of the completion. */
async function tryUpload(
  { upload, url }: Open,
  second: SecondNode,
  member: Member,
  jobs: RecordedJobs,
): Promise<string> {
  const ca = readFileSync(second.config.rootCertFile);
  let status = await put(url, ca);
  for (
    const from = Date.now();
    status === 200 && Date.now() - from < ABORT_LIMIT_MS;
    status = await put(url, ca)
  )
    await sleep(100);
  const reply = await ask(
    second,
    "output-complete",
    jobs,
    member,
    { upload, etags: ["0".repeat(32)] },
    true,
  );
  return `${status}, ${reply.ok ? "completed" : (reply.error?.code ?? "?")}`;
}

type Reply = { ok: boolean; error?: { code: string } } & Record<string, unknown>;

async function ask(
  { config }: SecondNode,
  verb: "output-open" | "output-complete",
  jobs: RecordedJobs,
  { id, generation, counter }: Member,
  fields: object,
  isLate = false,
): Promise<Reply> {
  const read = (name: string): string => readFileSync(join(config.dataDir, name), "utf8");
  const db = jobs.open();
  const epoch = db
    .prepare<[string], { generation: number; counter: number }>(
      "SELECT generation, counter FROM nodes WHERE id = ?",
    )
    .get(NODE)!;
  db.close();
  const connection = await connect({
    servers: read("nats-url"),
    tls: {
      ca: readFileSync(config.rootCertFile, "utf8"),
      cert: read("node.crt"),
      key: read("node.key"),
    },
    inboxPrefix: agentInboxPrefix(NODE),
    name: `proof ${randomUUID()}`,
  });
  try {
    // The lost agent knows the epoch that it had; the coordinator has given the next one to nobody yet.
    const nodeEpoch = isLate ? { ...epoch, counter: epoch.counter - 1 } : epoch;
    const body = { nodeEpoch, member: id, fence: { generation, counter }, ...fields };
    const message = await connection.request(agentSubject(NODE, verb), JSON.stringify(body), {
      timeout: 10_000,
    });
    return message.json<Reply>();
  } finally {
    await connection.close();
  }
}

async function put(url: string, ca: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request(url, { method: "PUT", ca }, (answer) => {
    answer.resume();
    resolve(answer.statusCode ?? 0);
  });
  sent.on("error", reject);
  sent.end(CONTENT);
  return await promise;
}
