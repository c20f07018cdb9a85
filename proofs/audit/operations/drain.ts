/**
 * The disk of the log nearly full: what runs ends, what is new is refused by name, everything else is served; fuller still,
 * ballast is given up for it. Once there is room the ballast is taken back, and the drain ends.
 */
import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalAppliance } from "@resontech/house/local-appliance";
import type { ApplianceApi } from "@resontech/house/appliance-api";
import { readFindings, untilClear } from "@resontech/house/status-findings";
import type { SmallDisk } from "@resontech/house/small-disk";
import type { RecordedJobs } from "@resontech/house/recorded-job";
import { refusalReason } from "@resontech/house/refusal-reason";
import type { ApplianceLog } from "@resontech/house/appliance-log";

const MIB = 1024 ** 2;
/** A trial's log keeps 64 MiB of ballast and needs 32 MiB for its next segment and checkpoint: below the first it drains. */
const DRAIN_LEFT_BYTES = 56 * MIB;
/** Below the second it gives up ballast. */
const BALLAST_LEFT_BYTES = 20 * MIB;
const SEEN_WITHIN_MS = 30_000;
const JOB_LIMIT_MS = 300_000;

export type Drain = {
  /** How long after the disk was nearly full `status` said so. */
  saidAfterS: number;
  /** What a submission by the public client, and an upload, were answered. */
  refused: string[];
  /** What is no new work and was not served; must be empty. */
  notServed: string[];
  /** The job that ran when it began. */
  running: string;
  ballastBefore: number;
  ballastGivenUp: number;
  ballastAfter: number;
  stillFound: string[];
  /** A job that was submitted once there was room again. */
  next: string;
  /** Of `audit.disk` in the log, in order. */
  logged: boolean[];
};

export function isGoodDrain(drain: Drain): boolean {
  return (
    drain.refused.length === 2 &&
    drain.refused.every((code) => code === "audit_unavailable") &&
    drain.notServed.length === 0 &&
    drain.running === "FINISHED" &&
    drain.ballastBefore > 0 &&
    drain.ballastGivenUp === drain.ballastBefore &&
    drain.ballastAfter === drain.ballastBefore &&
    drain.stillFound.length === 0 &&
    drain.next === "FINISHED" &&
    drain.logged.join() === "true,false"
  );
}

/** @param disk under the folder of the log, with room left */
export async function drains(
  {
    appliance,
    api,
    jobs,
    log,
    disk,
  }: {
    appliance: LocalAppliance;
    api: ApplianceApi;
    jobs: RecordedJobs;
    log: ApplianceLog;
    disk: SmallDisk;
  },
  progress: (line: string) => void,
): Promise<Drain> {
  const ballast = (): number =>
    readdirSync(join(appliance.root, "data", "audit", "ballast")).length;
  const isDraining = (): boolean =>
    readFindings(appliance).some((line) => line.includes(" audit_draining:"));
  await until("the ballast is there", () => ballast() > 0);
  const ballastBefore = ballast();
  const size = await log.size();
  const running = await jobs.submit("drained", { rounds: 3, ticks: 20 });
  await jobs.untilCommitted(running, 0);
  const waiting = await jobs.submit("cancelled", { rounds: 1, ticks: 1 });
  progress("the disk of the log is nearly full");
  const from = Date.now();
  disk.fillUntil(DRAIN_LEFT_BYTES);
  await until("status says that it drains", isDraining);
  const saidAfterS = Math.round((Date.now() - from) / 1000);
  const refused = [
    await jobs.submit("new-work", { rounds: 1, ticks: 1 }).then(() => "accepted", refusalReason),
    codeOf(
      (await api.call("POST", "/api/users/storage/upload/init", { key: "jobs/new/one", size: 5 }))
        .body,
    ),
  ];
  const notServed = await notServedWhileDraining(appliance, api);
  const cancelled = await api.call("POST", `/api/tasks/${waiting}/cancel`);
  if (cancelled.status !== 200)
    notServed.push(`cancel: ${cancelled.status} ${JSON.stringify(cancelled.body)}`);
  const ended = (await api.untilEnded(running, JOB_LIMIT_MS)).status;
  progress(`the job that ran: ${ended}; the disk is fuller still`);
  disk.fillUntil(BALLAST_LEFT_BYTES);
  await until("ballast is given up", () => ballast() < ballastBefore);
  const ballastGivenUp = ballastBefore - ballast();
  notServed.push(...(await notServedWhileDraining(appliance, api)));
  progress("there is room again");
  disk.free();
  await until("the drain is over", () => !isDraining() && ballast() === ballastBefore);
  const stillFound = await untilClear(appliance);
  const next = (
    await api.untilEnded(await jobs.submit("after", { rounds: 1, ticks: 1 }), JOB_LIMIT_MS)
  ).status;
  const logged = (await log.since(size))
    .filter(({ type }) => type === "audit.disk")
    .map(({ detail }) => detail?.["draining"] === true);
  const counted = { ballastBefore, ballastGivenUp, ballastAfter: ballast() };
  return { saidAfterS, refused, notServed, running: ended, ...counted, stillFound, next, logged };
}

/** What a drain leaves alone: looks at keys and log, new people, the operator's export. */
async function notServedWhileDraining(
  appliance: LocalAppliance,
  api: ApplianceApi,
): Promise<string[]> {
  const failed: string[] = [];
  for (const path of ["/api/keys", "/api/users/storage/bucket", "/api/audit/events"]) {
    const { status, body } = await api.call("GET", path);
    if (status >= 300) failed.push(`GET ${path}: ${status} ${JSON.stringify(body)}`);
  }
  const file = join(appliance.root, "data", `export-${crypto.randomUUID()}.tar`);
  const commands = [
    ["add-user", `while-draining-${crypto.randomUUID().slice(0, 8)}`],
    ["audit", "export", "--out", file],
  ];
  for (const command of commands)
    await appliance
      .command(command)
      .catch((error: unknown) => failed.push(`${command.join(" ")}: ${String(error)}`));
  rmSync(file, { force: true });
  return failed;
}

function codeOf(body: unknown): string {
  const { code = "accepted" } = (body ?? {}) as { code?: string };
  return code;
}

async function until(what: string, holds: () => boolean): Promise<void> {
  for (const from = Date.now(); !holds(); await sleep(500))
    if (Date.now() - from > SEEN_WITHIN_MS)
      throw new Error(`not within ${SEEN_WITHIN_MS / 1000} s: ${what}`);
}
