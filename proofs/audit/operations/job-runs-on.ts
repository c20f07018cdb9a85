/**
 * A job runs while auditd is away and everything is asked for, its own cancellation included: it goes on in the same containers.
 */
import { createHash } from "node:crypto";
import type { TaskReply } from "@resontech/contracts/http-tasks";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { MOVED_BY_TIME, type Moving } from "./appliance-state.ts";
import type { FirstBucket } from "./first-bucket.ts";
import { objectChanges } from "./object-changes.ts";
import { hungAuditd, stoppedAuditd } from "./outage.ts";
import { isRefused, refusedDuring, type Refusals } from "./ask-without-auditd.ts";
import { routeChanges } from "./route-changes.ts";

const JOB = { name: "runs-on", rounds: 8, ticks: 24 } as const;
const JOB_LIMIT_MS = 300_000;

export type JobRunsOn = {
  refusals: Record<string, Refusals>;
  /** Containers of members, the same ones from before the first request to after the last. */
  containers: number;
  /** After the last request. */
  stateThen: string;
  end: string;
  attempt: number;
};

export function isRunOn({ refusals, containers, stateThen, end, attempt }: JobRunsOn): boolean {
  const isWell = containers === 3 && stateThen === "RUNNING" && end === "FINISHED" && attempt === 1;
  return isWell && Object.values(refusals).length === 2 && Object.values(refusals).every(isRefused);
}

export async function jobRunsOn(
  {
    appliance,
    api,
    bucket,
    jobs,
  }: { appliance: LocalAppliance; api: ApplianceApi; bucket: FirstBucket; jobs: RecordedJobs },
  progress: (line: string) => void,
): Promise<JobRunsOn> {
  const id = await jobs.submit(JOB.name, JOB);
  await jobs.untilCommitted(id, 0);
  const moving = movedByJob(jobs);
  const refusals: Record<string, Refusals> = {};
  // A stop lengthens leases, which would keep the job alive through what follows as well.
  for (const outage of [hungAuditd(appliance, []), stoppedAuditd(appliance, [])]) {
    const name = `${JOB.name}-${outage.name}`;
    const routes = await routeChanges({ appliance, api, bucket }, name, { id, name: JOB.name });
    const objects = await objectChanges(bucket, `jobs/objects-${name}`);
    progress(`a job runs, auditd is ${outage.name}; ${routes.length + objects.length} requests`);
    refusals[outage.name] = await refusedDuring(outage, { appliance, moving }, [routes, objects]);
  }
  const containers = jobs.containers().length;
  const { detail } = (await api.call("GET", `/api/tasks/${id}`)).body as TaskReply;
  const ended = await api.untilEnded(id, JOB_LIMIT_MS);
  return {
    refusals,
    containers,
    stateThen: detail.state,
    end: ended.status,
    attempt: ended.detail.attempt,
  };
}

/** What a job in its rounds writes by itself. Its own row, its attempt, leases and fences are compared, and its containers. */
function movedByJob(jobs: RecordedJobs): Moving {
  const logs = "the job's logs and checkpoints are stored";
  const reports = "the agent reports how the member gets on";
  const uploaded = new Set<string>();
  return {
    columns: {
      ...MOVED_BY_TIME.columns,
      metrics: { "*": "the job's sites tell their metrics" },
      rounds: { "*": "its rounds begin and end" },
      checkpoints: { "*": "its rounds are committed" },
      uploads: { "*": logs },
      job_outputs: { "*": `${logs}: each is kept as the job's by its newest version` },
      outbox: { "*": `${logs}: uploads that found no log are given up and begun again` },
      audit_outbox: { "*": `${logs}: what is to be recorded waits for auditd` },
      sqlite_sequence: { "*": "numbers of the outbox" },
      members: {
        ...{ version: reports, last_seq: reports, deadline_at: reports, detail: reports },
        ...{
          progress_step: reports,
          progress_done: reports,
          progress_total: reports,
          progress_at: reports,
        },
      },
    },
    isMovingRow: (table, row) =>
      MOVED_BY_TIME.isMovingRow?.(table, row) === true ||
      (table === "meta" && String(row["name"]).startsWith("record-")),
    movingObjects: () => {
      // By the coordinator's own rows, read after the folders: it writes each before it opens the upload.
      const db = jobs.open();
      try {
        for (const key of db.prepare<[], string>("SELECT key FROM uploads").pluck().all())
          uploaded.add(key);
      } finally {
        db.close();
      }
      return isOfUploads([...uploaded]);
    },
  };
}

/** @returns whether a path below `data/s3` is one of these objects, of their open uploads or older versions, or a folder of them */
function isOfUploads(keys: readonly string[]): (path: string) => boolean {
  const digests = keys.map((key) => createHash("sha256").update(key).digest("hex"));
  // The engine spreads versions over folders.
  const versions = digests.map(
    (digest) => `${digest.slice(0, 2)}/${digest.slice(2, 4)}/${digest.slice(4, 6)}/${digest}`,
  );
  return (path) => {
    const [area, , ...rest] = path.split("/");
    const [first = "", , digest = ""] = rest;
    const inside = rest.join("/");
    if (area === "versions")
      return versions.some((own) => own.startsWith(inside) || inside.startsWith(own));
    if (first === ".sgwtmp") return rest.length < 3 || digests.includes(digest);
    // `jobs` itself is compared: whatever else came into it would show.
    return (
      inside !== "jobs" &&
      keys.some((key) => key === inside || (inside !== "" && key.startsWith(`${inside}/`)))
    );
  };
}
