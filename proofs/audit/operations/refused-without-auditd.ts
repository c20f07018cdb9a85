/** No job runs, so that everything can be compared: auditd is stopped, then it hangs. What was refused is served afterwards. */
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { MOVED_BY_TIME } from "./appliance-state.ts";
import { isRefused, refusedDuring, type Refusals, servedAgain } from "./ask-without-auditd.ts";
import type { FirstBucket } from "./first-bucket.ts";
import { objectChanges, onePart } from "./object-changes.ts";
import { hungAuditd, stoppedAuditd } from "./outage.ts";
import { routeChanges } from "./route-changes.ts";

type Outcome = Refusals & {
  /** What was asked again once auditd was back, and not served; must be empty. */
  notServedAgain: string[];
  /**
   * What a part is answered before anything else was asked. A part has no record of its own: it gets in while the door has heard
   * auditd in the last 2 s. Nobody can read a part before its upload is completed, which is refused.
   */
  firstPart: number;
};

export function isRefusedWell(outcomes: Readonly<Record<string, Outcome>>): boolean {
  const all = Object.values(outcomes);
  return all.length === 2 && all.every((one) => isRefused(one) && one.notServedAgain.length === 0);
}

export async function refusedWithoutAuditd(
  {
    appliance,
    api,
    bucket,
    jobs,
  }: { appliance: LocalAppliance; api: ApplianceApi; bucket: FirstBucket; jobs: RecordedJobs },
  progress: (line: string) => void,
): Promise<Record<string, Outcome>> {
  // No node's agent runs, so a job stays where it is until it is cancelled.
  await appliance.command(["stop", "agent"]);
  const outcomes: Record<string, Outcome> = {};
  await endedJob(api, jobs);
  for (const outage of [stoppedAuditd(appliance, ["agent"]), hungAuditd(appliance, ["agent"])]) {
    const waits = {
      id: await jobs.submit(`waits-${outage.name}`, { rounds: 1, ticks: 1 }),
      name: `waits-${outage.name}`,
    };
    const routes = await routeChanges({ appliance, api, bucket }, `asked-${outage.name}`, waits);
    const objects = await objectChanges(bucket, `jobs/objects-${outage.name}`);
    const part = await onePart(bucket, `jobs/part-${outage.name}`);
    progress(`auditd is ${outage.name}; ${routes.length + objects.length} requests`);
    let firstPart = 0;
    const refusals = await refusedDuring(
      outage,
      { appliance, moving: MOVED_BY_TIME },
      [routes, objects],
      async () => {
        firstPart = (await part.send()).status;
      },
    );
    await part.abort();
    const { notServed, bodies } = await servedAgain([...routes, ...objects]);
    const { id } = bodies.get("POST /api/tasks") as { id: string };
    const { status, body } = await api.call("POST", `/api/tasks/${id}/cancel`);
    if (status !== 200)
      notServed.push(`the new job's cancellation: ${status} ${JSON.stringify(body)}`);
    outcomes[outage.name] = { ...refusals, notServedAgain: notServed, firstPart };
  }
  // All that was stopped, and leases are as long as they ought to be.
  await appliance.command(["start"]);
  return outcomes;
}

/** One whose outputs may be removed: of a living one that is refused whatever the log does. */
async function endedJob(api: ApplianceApi, jobs: RecordedJobs): Promise<void> {
  const id = await jobs.submit("ended", { rounds: 1, ticks: 1 });
  await api.call("POST", `/api/tasks/${id}/cancel`);
  for (let look = 0; look < 240; look++) {
    const { status } = (await api.call("GET", `/api/tasks/${id}`)).body as { status: string };
    if (status === "FAILED") return;
    await sleep(500);
  }
  throw new Error(`the cancelled job ${id} did not end`);
}
