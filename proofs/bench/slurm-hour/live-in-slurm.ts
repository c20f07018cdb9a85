/** The made hour in real Slurm, faster: each job sleeps, one that makes way goes on from there, and writes down when it ran. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { EmulatedSlurm, type SlurmAccount } from "./emulated-slurm.ts";
import type { Life } from "../shared-load/live-load.ts";
import { FLEET, HOUR, type MadeJob, PROJECT_IDS, SHARES } from "../shared-load/made-load.ts";

/** So many seconds of the made hour pass in one. */
export const SPEED = 12;
const MINUTE = 60_000;

/** Takes nanoseconds and a file. */
const SCRIPT = `#!/bin/sh
left=$(cat "$2.left" 2>/dev/null || echo "$1")
from=$(date +%s%N)
echo "begin $from" >> "$2"
trap 'now=$(date +%s%N); echo "stop $now" >> "$2"; left=$((left - now + from)); [ $left -gt 0 ] || left=0; echo $left > "$2.left"; exit 0' TERM
sleep "$(printf %d.%09d $((left / 1000000000)) $((left % 1000000000)))" &
wait $!
echo "end $(date +%s%N)" >> "$2"
`;

/** What is guaranteed, and an equal part of all that is left: what shares give a project that always asks. */
function accounts(): SlurmAccount[] {
  const guarantees = PROJECT_IDS.map(
    (id) => SHARES.find((share) => share.id === id)!.guarantee[FLEET.model] ?? 0,
  );
  const left = FLEET.nodes * FLEET.devices - guarantees.reduce((sum, one) => sum + one, 0);
  return PROJECT_IDS.map((id, at) => ({
    id,
    guarantee: guarantees[at]!,
    shares: guarantees[at]! * PROJECT_IDS.length + left,
  }));
}

/** @param dir empty, of root alone @returns times of the made hour */
export async function liveInSlurm(
  jobs: readonly MadeJob[],
  dir: string,
): Promise<Life & { version: string }> {
  const projects = accounts();
  const of = new Map(projects.map((account) => [account.id, account]));
  const [script, told] = [join(dir, "job.sh"), join(dir, "told")];
  mkdirSync(told);
  const home = join(dir, "slurm");
  mkdirSync(home);
  writeFileSync(script, SCRIPT, { mode: 0o755 });
  await using slurm = await EmulatedSlurm.start(home, {
    ...{ nodes: FLEET.nodes, devices: FLEET.devices, accounts: projects },
    // A day, as our own use decays.
    halfLife: clockOf((24 * HOUR) / SPEED),
  });
  const version = await slurm.version();
  const from = Date.now();
  const isOver = new AbortController();
  const looking = lookAfter(slurm, isOver.signal);
  const submissions: Promise<void>[] = [];
  for (const { job, project, at, size, isSpread, runsMs, statedMs } of jobs) {
    await sleep(Math.max(0, from + at / SPEED - Date.now()));
    const minutes = Math.ceil(statedMs / SPEED / MINUTE);
    const args = [String(Math.round((runsMs / SPEED) * 1e6)), join(told, job)];
    const asked = { account: of.get(project)!, size, isSpread, minutes };
    submissions.push(slurm.submit(asked, script, args));
  }
  await Promise.all(submissions);
  await sleep(Math.max(0, from + HOUR / SPEED - Date.now()));
  isOver.abort();
  await looking;
  const life: Life = { served: [], holdings: [], preemptions: 0 };
  for (const job of jobs) {
    const spans = spansOf(join(told, job.job), from);
    const began = spans[0]?.from ?? null;
    life.served.push({ job, told: null, waitMs: began === null ? null : began - job.at });
    life.preemptions += spans.filter(({ isStopped }) => isStopped).length;
    for (const { from: start, until } of spans)
      for (let n = 0; n < job.size; n += 1)
        life.holdings.push({ project: job.project, model: FLEET.model, from: start, until });
  }
  return { ...life, version };
}

async function lookAfter(slurm: EmulatedSlurm, isOver: AbortSignal): Promise<void> {
  while (!isOver.aborted) {
    await slurm.endDelays();
    await sleep(500);
  }
}

type Span = { from: number; until: number | null; isStopped: boolean };

/** When a job ran, as it wrote down itself. */
function spansOf(path: string, began: number): Span[] {
  if (!existsSync(path)) return [];
  const spans: Span[] = [];
  for (const line of readFileSync(path, "utf8").trim().split("\n")) {
    const [word, nanoseconds] = line.split(" ");
    const at = (Number(nanoseconds) / 1e6 - began) * SPEED;
    if (word === "begin") spans.push({ from: at, until: null, isStopped: false });
    else Object.assign(spans.at(-1)!, { until: at, isStopped: word === "stop" });
  }
  return spans.filter((span) => span.from < HOUR);
}

/** As Slurm writes a length of time. */
function clockOf(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  const parts = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
