/**
 * `POST /api/tasks` on the installed appliance: p50 and p99, beside what the same disk takes to make 4 KiB durable. Every submission is
 * whole: paths listed and judged in the bucket, shards read, gate of the audit log, the kernel's transaction. They queue behind a job that
 * holds all workers and does nothing, so that only submissions are measured.
 *
 * `npm run prove -- submit-latency [COUNT]`
 */
import { fillWorkspaces } from "@resontech/house/filled-workspaces";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { taskOf } from "@resontech/house/task-of";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { bench } from "./measure/bench.ts";
import { timeDiskSyncs } from "./measure/disk-sync.ts";

const WARM_UP = 20;
const RAW_SYNCS = 1_000;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const count = Number(args[0] ?? 300);
  await using installed = await ProofAppliance.install(progress);
  const { appliance } = installed;
  progress(`a job that holds all workers, and ${count + WARM_UP} workspaces of the digits job`);
  const held = await fillWorkspaces(installed, "latency", count + WARM_UP);
  const api = new ApplianceApi(appliance);
  try {
    const before = timeDiskSyncs(installed.folder("disk"), RAW_SYNCS);
    const ids: string[] = [];
    const submit = async (): Promise<number> => {
      const name = `fill-${ids.length}`;
      const from = performance.now();
      const { status, body } = await api.call("POST", "/api/tasks", taskOf(name));
      const ms = performance.now() - from;
      if (status !== 201)
        throw new Error(`${name} was answered ${status}: ${JSON.stringify(body)}`);
      ids.push((body as { id: string }).id);
      if (ids.length % 100 === 0) progress(`${ids.length} submitted`);
      return ms;
    };
    const { measured } = await bench(
      { submissions: { measure: submit } },
      { rounds: count, warmUp: WARM_UP },
    );
    const times = measured.submissions;
    const raw = [...before, ...timeDiskSyncs(installed.folder("disk"), RAW_SYNCS)];

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
