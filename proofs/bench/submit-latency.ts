/**
 * `POST /api/tasks` on the installed appliance: p50 and p99, beside what the same disk takes to make 4 KiB durable. Every submission is
 * whole: paths listed and judged in the bucket, shards read, gate of the audit log, the kernel's transaction. They queue behind a job that
 * holds all workers and does nothing, so that only submissions are measured.
 *
 * `npm run prove -- submit-latency [COUNT]`
 */
import { closeSync, copyFileSync, fdatasyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { repository } from "../../dev/local-appliance.ts";
import { untilNothingIsLeft } from "../../dev/leftovers.ts";
import { Workstation } from "../../dev/workstation.ts";
import { ApplianceApi } from "../../dev/appliance-api.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { taskOf } from "@resontech/house/task-of";
import { quantile } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const WARM_UP = 20;
const RAW_SYNCS = 1_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const count = Number(args[0] ?? 300);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  await installed.workstation("latency");
  const scripts = installed.folder("scripts");
  for (const file of [
    "house/src/installed/fill_workspaces.py",
    "acceptance/test/jobs/slow_model.py",
  ])
    copyFileSync(join(repository, file), join(scripts, file.slice(file.lastIndexOf("/") + 1)));
  const filler = await Workstation.open(appliance, installed.folder("latency"), scripts);
  const api = new ApplianceApi(appliance);
  try {
    progress("a job that holds all workers");
    const held = String(
      (
        await filler.events(["/example/fill_workspaces.py", "--hold", "--shards", "/work/shards"])
      ).at(-1)?.["id"],
    );
    progress(`${count + WARM_UP} workspaces of the digits job`);
    await filler.python([
      "/example/fill_workspaces.py",
      "--from",
      "hold",
      "--count",
      String(count + WARM_UP),
    ]);

    const before = rawSyncs(installed.folder("disk"));
    const ids: string[] = [];
    const times: number[] = [];
    for (let n = 0; n < count + WARM_UP; n += 1) {
      const from = performance.now();
      const { status, body } = await api.call("POST", "/api/tasks", taskOf(`fill-${n}`));
      const ms = performance.now() - from;
      if (status !== 201)
        throw new Error(`submission ${n} was answered ${status}: ${JSON.stringify(body)}`);
      ids.push((body as { id: string }).id);
      if (n >= WARM_UP) times.push(ms);
      if (n % 100 === 0) progress(`${n} submitted`);
    }
    const raw = [...before, ...rawSyncs(installed.folder("disk"))];

    progress("cancelling all of them");
    for (const id of [...ids, held]) {
      const { status } = await api.call("POST", `/api/tasks/${id}/cancel`);
      if (status !== 200) throw new Error(`cancelling ${id} was answered ${status}`);
    }
    for (const id of [...ids, held]) await api.untilEnded(id, 60_000);
    const left = await untilNothingIsLeft(appliance);

    const ms = (values: readonly number[], share: number): number =>
      Number(quantile(values, share).toFixed(2));
    return {
      ok: times.length === count && left.length === 0,
      figures: {
        submissions: count,
        submit_p50_ms: ms(times, 0.5),
        submit_p99_ms: ms(times, 0.99),
        submit_max_ms: ms(times, 1),
        disk_fdatasync_p50_ms: ms(raw, 0.5),
        disk_fdatasync_p99_ms: ms(raw, 0.99),
        p50_in_disk_p50: Number((quantile(times, 0.5) / quantile(raw, 0.5)).toFixed(1)),
        p99_in_disk_p99: Number((quantile(times, 0.99) / quantile(raw, 0.99)).toFixed(1)),
        left,
      },
    };
  } finally {
    api.close();
  }
}

/** Milliseconds of each append of 4 KiB that was made durable, on the appliance's own file system. */
function rawSyncs(folder: string): number[] {
  const file = join(folder, "raw");
  const fd = openSync(file, "w");
  const block = Buffer.alloc(4096, 0x61);
  try {
    return Array.from({ length: RAW_SYNCS }, () => {
      const from = performance.now();
      writeSync(fd, block);
      fdatasyncSync(fd);
      return performance.now() - from;
    });
  } finally {
    closeSync(fd);
    rmSync(file);
  }
}
