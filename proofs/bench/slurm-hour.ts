/**
 * The made hour of six projects in real Slurm, and the same hour in ours by shares and in order of arrival: waits, how even, how much of the fleet works.
 * Slurm has eight emulated nodes of eight processors, fair-share and guarantees as QOS that preempt, and runs twelve times as fast. What is not alike on
 * both sides stands in docs/decisions/0106-several-futures-are-asked.md.
 *
 * `npm run prove -- slurm-hour [SEED]`, as root. Needs `slurmctld`, `slurmd`, `slurmdbd`, `slurm-client`, `munge` and `mariadb-server-core` of Debian.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ProofContext, ProofResult } from "../proof.ts";
import { describeLives } from "./shared-load/describe-lives.ts";
import { liveThrough } from "./shared-load/live-load.ts";
import { HOUR, makeLoad } from "./shared-load/made-load.ts";
import { liveInSlurm, SPEED } from "./slurm-hour/live-in-slurm.ts";

const [SEED, LOAD, OVERSTATED] = [1, 1.1, 0.5];

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const seed = Number(args[0] ?? SEED);
  const jobs = makeLoad(seed, LOAD, OVERSTATED);
  const [shares, arrival] = (["shares", "arrival"] as const).map((by) => {
    progress(`ours by ${by}`);
    return describeLives([liveThrough(jobs, { by, isAsked: false })]);
  });
  const dir = mkdtempSync(join(tmpdir(), "slurm-hour-"));
  try {
    progress(`Slurm: ${jobs.length} jobs in ${HOUR / SPEED / 1_000} s`);
    const { version, ...life } = await liveInSlurm(jobs, dir);
    const started = life.served.filter(({ waitMs }) => waitMs !== null).length;
    return {
      // It is the peer, and no goal: that nearly all was lived is what makes it one.
      ok: started > jobs.length / 2,
      figures: {
        ...{ seed, load: LOAD, jobs: jobs.length, version, speed: SPEED },
        slurm: { started, ...describeLives([life]) },
        ...{ shares, arrival },
      },
    };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
