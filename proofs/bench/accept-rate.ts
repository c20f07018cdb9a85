/**
 * Single jobs that are accepted in a second, by eight clients at once, each durable and in the audit log before its answer: by the kernel with a real auditd,
 * by the API of a running coordinator behind its front door, and by real Slurm, beside the syncs that the disk does. Slurm writes its state every few
 * seconds, and has no log of who asked; each of its jobs costs a process of `sbatch`.
 *
 * `npm run prove -- accept-rate [JOBS]`. Needs `slurmctld`, `slurm-client` and `munge` of Debian.
 */
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { RunningSlurm } from "./accept-rate/running-slurm.ts";
import { timeDiskSyncs } from "./measure/disk-sync.ts";

const [JOBS, CLIENTS, GOAL_PER_S, RAW_SYNCS] = [2_000, 8, 1_000, 1_000];
const GOAL_MS = { p50: 25, p99: 60 };
const run = promisify(execFile);

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const jobs = Number(args[0] ?? JOBS);
  const dir = mkdtempSync(join(tmpdir(), "accept-rate-"));
  try {
    progress(`the disk: ${RAW_SYNCS} syncs`);
    const syncs = timeDiskSyncs(dir, RAW_SYNCS);
    progress(`the kernel: ${jobs} jobs`);
    const kernel = await acceptInKernel(join(dir, "kernel"), jobs);
    progress(`the API: ${jobs} jobs`);
    const api = await acceptByApi(jobs);
    progress(`Slurm: ${jobs} jobs`);
    const slurm = await acceptBySlurm(mkdtempSync(join(dir, "slurm-")), jobs);
    const syncsPerS = 1_000 / quantile(syncs, 0.5);
    const missed = [
      ...miss(kernel.per_s < GOAL_PER_S, `the kernel: ${kernel.per_s}/s, goal ${GOAL_PER_S}`),
      ...miss(api.alone_p50_ms > GOAL_MS.p50, `the API: p50 ${api.alone_p50_ms} ms`),
      ...miss(api.alone_p99_ms > GOAL_MS.p99, `the API: p99 ${api.alone_p99_ms} ms`),
    ];
    return {
      ok: missed.length === 0,
      figures: {
        ...{ jobs, clients: CLIENTS, kernel, api, slurm },
        disk_syncs_per_s: Math.round(syncsPerS),
        kernel_to_slurm: round(kernel.per_s / slurm.per_s),
        api_to_slurm: round(api.per_s / slurm.per_s),
        kernel_to_disk_syncs: round(kernel.per_s / syncsPerS),
        missed,
      },
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function acceptInKernel(root: string, jobs: number): Promise<{ per_s: number }> {
  await using stack = new AsyncDisposableStack();
  const auditd = stack.adopt(new AuditdFixture(root), async (one) => void (await one.stop()));
  await auditd.makeLog();
  await auditd.start();
  const program = join(import.meta.dirname, "accept-rate", "accept-in-kernel.ts");
  const given = [program, auditd.socket("coordinator-gate"), String(CLIENTS), String(jobs)];
  const { stdout } = await run(process.execPath, given);
  const { stored, seconds } = JSON.parse(stdout) as { stored: number; seconds: number };
  if (stored !== jobs) throw new Error(`${stored} of ${jobs} jobs are stored`);
  return { per_s: round(jobs / seconds) };
}

type ByApi = { per_s: number; alone_p50_ms: number; alone_p99_ms: number };

async function acceptByApi(jobs: number): Promise<ByApi> {
  await using running = await RunningCoordinator.create({ front: true });
  const { platformKey, bucketAlias } = await running.control("add-user", { username: "ada" });
  await running.s3.store.put(bucketAlias, "jobs/wait/scripts/wait.py", "pass\n", "text/plain");
  let next = 0;
  const submit = async (): Promise<number> => {
    const name = `job-${next++}`;
    const from = performance.now();
    const { status, body } = await running.request("POST", "/api/tasks", platformKey, {
      ...{ kind: "command", name, scriptPath: "/jobs/wait/scripts/wait.py", gpuModels: ["cpu"] },
    });
    if (status !== 201) throw new Error(`${name} was answered ${status}: ${JSON.stringify(body)}`);
    return performance.now() - from;
  };
  const alone: number[] = [];
  for (let n = 0; n < 320; n += 1) alone.push(await submit());
  const seconds = await byClients(jobs, submit);
  const warm = alone.slice(20);
  return {
    per_s: round(jobs / seconds),
    alone_p50_ms: round(quantile(warm, 0.5)),
    alone_p99_ms: round(quantile(warm, 0.99)),
  };
}

async function acceptBySlurm(dir: string, jobs: number) {
  await using slurm = await RunningSlurm.start(dir);
  const seconds = await byClients(jobs, () => slurm.submit());
  const stored = await slurm.count();
  if (stored !== jobs) throw new Error(`Slurm holds ${stored} of ${jobs} jobs`);
  return { version: await slurm.version(), per_s: round(jobs / seconds) };
}

/** @returns seconds that all of them took */
async function byClients(count: number, submit: () => Promise<unknown>): Promise<number> {
  let left = count;
  const from = performance.now();
  await Promise.all(
    Array.from({ length: CLIENTS }, async () => {
      while (left-- > 0) await submit();
    }),
  );
  return (performance.now() - from) / 1_000;
}

function miss(isMissed: boolean, what: string): string[] {
  return isMissed ? [what] : [];
}

function round(value: number): number {
  return Number(value.toFixed(2));
}
