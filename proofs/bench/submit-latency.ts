/**
 * `POST /api/tasks` on the installed appliance: p50 and p99, beside what the same disk takes to make 4 KiB durable. Every submission is
 * whole: paths listed and judged in the bucket, shards read, gate of the audit log, the kernel's transaction. They queue behind a job that
 * holds all workers and does nothing, so that only submissions are measured.
 *
 * Where the time goes: means of the coordinator's own stages, and `door`, which is the rest that the client waits. An earlier tree is measured by its
 * own proof just before, so that both saw the same machine.
 *
 * `npm run prove -- submit-latency [COUNT [FOLDER]]`. FOLDER: a checkout of an earlier commit, with its packages installed.
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { fillWorkspaces } from "@resontech/house/filled-workspaces";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { taskOf } from "@resontech/house/task-of";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { untilNothingIsLeft } from "@resontech/house/leftovers";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { bench } from "./measure/bench.ts";
import { timeDiskSyncs } from "./measure/disk-sync.ts";
import { meansBetween, readStageSums } from "./measure/submission-stages.ts";

const WARM_UP = 20;
const RAW_SYNCS = 1_000;
const GOAL_MS = { p50: 25, p99: 60 };
const run = promisify(execFile);

type Earlier = { commit: string; submit_p50_ms: number; submit_p99_ms: number };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const count = Number(args[0] ?? 300);
  const earlier = args[1] === undefined ? null : await measureEarlier(args[1], count, progress);
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
    for (let n = 0; n < WARM_UP; n += 1) await submit();
    const stagesBefore = await readStageSums(appliance);
    const { measured } = await bench(
      { submissions: { measure: submit } },
      { rounds: count, warmUp: 0 },
    );
    const stages = meansBetween(stagesBefore, await readStageSums(appliance));
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
    const [p50, p99] = [ms(times, 0.5), ms(times, 0.99)];
    const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
    const inside = Object.values(stages).reduce((sum, each) => sum + each, 0);
    const missed = [
      ...(p50 > GOAL_MS.p50 ? [`p50 ${p50} ms, and ${GOAL_MS.p50} is the goal`] : []),
      ...(p99 > GOAL_MS.p99 ? [`p99 ${p99} ms, and ${GOAL_MS.p99} is the goal`] : []),
    ];
    return {
      ok: times.length === count && left.length === 0 && missed.length === 0,
      figures: {
        submissions: count,
        submit_p50_ms: p50,
        submit_p99_ms: p99,
        submit_max_ms: ms(times, 1),
        stage_means_ms: Object.fromEntries(
          Object.entries({ door: mean - inside, ...stages }).map(([stage, each]) => [
            stage,
            Number(each.toFixed(2)),
          ]),
        ),
        ...(earlier === null
          ? {}
          : {
              ...{ earlier, p50_to_earlier: Number((p50 / earlier.submit_p50_ms).toFixed(2)) },
              p99_to_earlier: Number((p99 / earlier.submit_p99_ms).toFixed(2)),
            }),
        disk_fdatasync_p50_ms: ms(raw, 0.5),
        disk_fdatasync_p99_ms: ms(raw, 0.99),
        p50_in_disk_p50: Number((quantile(times, 0.5) / quantile(raw, 0.5)).toFixed(1)),
        p99_in_disk_p99: Number((quantile(times, 0.99) / quantile(raw, 0.99)).toFixed(1)),
        ...{ left, missed },
      },
    };
  } finally {
    api.close();
  }
}

/** The same figures by the earlier tree's own proof, on this machine just now. */
async function measureEarlier(
  folder: string,
  count: number,
  progress: (line: string) => void,
): Promise<Earlier> {
  progress(`${count} submissions to the appliance of ${folder}`);
  const given = ["run", "-s", "prove", "--", "submit-latency", String(count)];
  const { stdout } = await run("npm", given, { cwd: folder, maxBuffer: 64 * 1024 * 1024 });
  const { figures } = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as { figures: Earlier };
  const { stdout: commit } = await run("git", ["rev-parse", "--short=8", "HEAD"], { cwd: folder });
  const { submit_p50_ms, submit_p99_ms } = figures;
  return { commit: commit.trim(), submit_p50_ms, submit_p99_ms };
}
