/**
 * The disk of the node, of the object store, of the audit log, of the database and of the parts' logs filled to the last block in the middle of
 * a federated job, and freed after a minute. Meanwhile `appliance status` must say which and what to do, and a submission be refused with the code
 * that is due, or be accepted and end FINISHED once there is room. Afterwards status must find no fault any more, the job end FINISHED, go on only
 * from a model that was stored, and the next job run; no part has ended, nothing is left, and the log verifies.
 *
 * `npm run prove -- full-disks [NAME,NAME… [SECONDS]]` (all five, 60 s unless said)
 */
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { refusalReason } from "@resontech/house/refusal-reason";
import { SmallDisk } from "@resontech/house/small-disk";
import { readFindings, untilClear } from "@resontech/house/status-findings";
import { untilHealthy } from "@resontech/house/until-healthy";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import { isVerified } from "@resontech/house/verify-audit";
import type { ProofContext, ProofResult } from "../proof.ts";
import type { Harm } from "./harms/harm.ts";
import { HarmedJobs } from "./harms/harmed-jobs.ts";
import { ReplacedParts } from "./watch/replaced-parts.ts";

const GIB = 1024 ** 3;
const ACCEPTED = "accepted";
/** Folder below the root, size, what status must call it, and what a submission may be answered. */
const DISKS = {
  node: {
    folder: "data/agent",
    sizeBytes: 14 * GIB,
    code: "node_disk_full",
    submissions: [ACCEPTED],
  },
  // The engine says that it has no room, or its hanging up ends the connection before that is read.
  s3: {
    folder: "data/s3",
    sizeBytes: 2 * GIB,
    code: "disk_full",
    submissions: ["InsufficientStorage", "ServiceUnavailable"],
  },
  audit: {
    folder: "data/audit",
    sizeBytes: 6 * GIB,
    code: "audit_draining",
    submissions: ["audit_unavailable"],
  },
  database: {
    folder: "data/coordinator",
    sizeBytes: GIB,
    code: "database_full",
    submissions: ["database_unavailable"],
  },
  // No part needs its log to do its work.
  log: { folder: "log", sizeBytes: GIB / 2, code: "disk_full", submissions: [ACCEPTED] },
} as const;
type Name = keyof typeof DISKS;
const JOB = { rounds: 5, ticks: 10 };
const JOB_LIMIT_MS = 400_000;
const LOOK_AFTER_MS = 20_000;

type Filled = {
  found: string[];
  submission: string;
  /** How a job ended that was accepted while the disk was full. */
  late: string | null;
  /** Faults that status still found a minute after there was room. */
  stillFound: string[];
  /** From the full disk to the end of the next job. */
  seconds: number;
  next: string;
  /** Parts that ended meanwhile: none needs to. */
  ended: string[];
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const names = (args[0]?.split(",") ?? Object.keys(DISKS)) as Name[];
  const unknown = names.filter((name) => !(name in DISKS));
  if (unknown.length > 0)
    throw new TypeError(
      `no disk ${unknown.join(", ")}; there are ${Object.keys(DISKS).join(", ")}`,
    );
  const fullS = Number(args[1] ?? 60);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  await using harmed = await HarmedJobs.open(installed, progress, { limitMs: JOB_LIMIT_MS });
  await appliance.command(["stop"]);
  // Unmounted before the uninstall, which comes last.
  await using stack = new AsyncDisposableStack();
  const disks = new Map<Name, SmallDisk>();
  for (const name of names) {
    const { folder, sizeBytes } = DISKS[name];
    disks.set(
      name,
      stack.use(
        SmallDisk.under(join(appliance.root, folder), sizeBytes, installed.folder(`disk-${name}`)),
      ),
    );
  }
  stack.defer(async () => void (await appliance.command(["stop"])));
  await appliance.command(["start"]);
  await untilHealthy(appliance);
  const done = [];
  for (const [name, disk] of disks) {
    const full = { name, disk, fullS };
    done.push({ name, ...(await harmed.through(fill(appliance, harmed, full, progress))) });
  }
  const left = await harmed.leftBehind();
  const audit = await harmed.verify();
  const ok = done.every(({ isGood }) => isGood) && left.length === 0 && isVerified(audit);
  const each = done.map(({ name, end, seen: { seconds, next, ended, ...seen } }) => ({
    ...{ disk: name, ...seen },
    ...{ state: end.state, attempts: end.attempts, resumedAt: end.resumedAt },
    ...{ seconds, next, ended, overlaps: end.overlaps, wrongModels: end.wrongModels },
  }));
  return { ok, figures: { full_s: fullS, each, left, audit } };
}

/** The disk is filled to its last block for so long; a job is submitted meanwhile, and another one once all is well again. */
function fill(
  appliance: LocalAppliance,
  { jobs, api }: HarmedJobs,
  { name, disk, fullS }: { name: Name; disk: SmallDisk; fullS: number },
  progress: (line: string) => void,
): Harm<Filled> {
  return {
    name: `full-${name}`,
    job: JOB,
    happen: async (job, toItsEnd) => {
      await jobs.untilCommitted(job, 0);
      const replaced = new ReplacedParts(appliance);
      const from = Date.now();
      progress(`${name}: its disk is full from now, in the middle of a job`);
      if (name === "database") emptyWriteAheadLog(appliance.root);
      disk.fill();
      await sleep(LOOK_AFTER_MS);
      const found = readFindings(appliance);
      progress(`  status says: ${found.join("; ")}`);
      const { submission, id } = await jobs.submit(`late-${name}`, { rounds: 1, ticks: 1 }).then(
        (accepted) => ({ submission: ACCEPTED, id: accepted }),
        (error: unknown) => ({ submission: refusalReason(error), id: null }),
      );
      progress(`  a submission: ${submission}`);
      await sleep(Math.max(0, fullS * 1000 - (Date.now() - from)));
      disk.free();
      progress("  there is room again");
      const stillFound = await untilClear(appliance);
      await toItsEnd();
      const late = id === null ? null : (await api.untilEnded(id, JOB_LIMIT_MS)).status;
      const ended = replaced.names();
      await untilHealthy(appliance);
      const next = await api.untilEnded(
        await jobs.submit(`next-${name}`, { rounds: 1, ticks: 1 }),
        JOB_LIMIT_MS,
      );
      const seconds = Math.round((Date.now() - from) / 1000);
      return { found, submission, late, stillFound, seconds, next: next.status, ended };
    },
    holds: (_, { found, submission, late, stillFound, next, ended }) =>
      found.some((line) => line.startsWith(`fault ${DISKS[name].code}:`)) &&
      DISKS[name].submissions.some((may) => may === submission) &&
      (late === null || late === "FINISHED") &&
      stillFound.length === 0 &&
      next === "FINISHED" &&
      ended.length === 0,
    tell: ({ state, attempts, resumedAt }, { late, next }) =>
      `  ${state} on attempt ${attempts} from round ${resumedAt}; the late one: ${late}; the next job: ${next}`,
  };
}

/** SQLite writes over what its log has already: that a commit needs room at all, the log must have none. */
function emptyWriteAheadLog(root: string): void {
  const db = new Database(join(root, "data", "coordinator", "coordinator.db"));
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
