/**
 * Made histories of fleets and of the kernel on its database: jobs come, fail, are cancelled and end, nodes are lost and drained, shares change, processes are
 * killed. No worker may be given out twice, no job lost, torn or starved, and each guarantee must be kept. Then bugs are planted in the scheduler, and
 * the same histories must find each of them.
 *
 * `npm run prove -- scheduler-histories [FLEETS [KERNELS [SEED]]]` (a million and ten thousand unless said)
 */
import { execFile } from "node:child_process";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { ProofContext, ProofResult } from "../proof.ts";
import { PLANTED_BUGS } from "./scheduler-histories/planted-bugs.ts";

const [FLEETS, KERNELS] = [1_000_000, 10_000];
const EVENTS = { fleet: 10, kernel: 20 } as const;
/** Of one process. */
const PART = { fleet: 20_000, kernel: 200 } as const;
/** So many histories may look for a bug. */
const SEARCHED = { fleet: 20_000, kernel: 200 } as const;
const PROGRAM = join(import.meta.dirname, "scheduler-histories", "run-histories.ts");
const run = promisify(execFile);

type Kind = keyof typeof EVENTS;
type Told = { counts: Record<string, number>; broken: string[] };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [fleets = FLEETS, kernels = KERNELS, seed = Date.now() % 1_000_000_000] = args.map(Number);
  const figures: Record<string, Told> = {};
  for (const [kind, count] of [
    ["kernel", kernels],
    ["fleet", fleets],
  ] as const) {
    const sum: Told = { counts: {}, broken: [] };
    const parts = Array.from({ length: Math.ceil(count / PART[kind]) }, (_, at) => at);
    let done = 0;
    const work = async () => {
      for (let at = parts.shift(); at !== undefined; at = parts.shift()) {
        const of = Math.min(PART[kind], count - at * PART[kind]);
        const { counts, broken } = await histories(kind, seed + at * PART[kind], of, -1);
        for (const [name, value] of Object.entries(counts))
          sum.counts[name] = (sum.counts[name] ?? 0) + value;
        sum.broken.push(...broken);
        for (const one of broken) progress(one);
        done += of;
        progress(`${kind}: ${done} of ${count} histories, ${sum.broken.length} broken`);
      }
    };
    await Promise.all(Array.from({ length: Math.min(2, availableParallelism()) }, work));
    figures[kind] = { ...sum, broken: sum.broken.slice(0, 20) };
  }
  const missed: string[] = [];
  for (const [place, { what, kind }] of PLANTED_BUGS.entries()) {
    const { broken } = await histories(kind, seed, SEARCHED[kind], place);
    progress(`${what}: ${broken[0] ?? "found by none"}`);
    if (broken.length === 0) missed.push(what);
  }
  const isWell = Object.values(figures).every(({ broken }) => broken.length === 0);
  return {
    ok: isWell && missed.length === 0,
    figures: {
      ...{ seed, fleets, kernels, events: EVENTS, ...figures },
      ...{ bugs: PLANTED_BUGS.length, bugs_found: PLANTED_BUGS.length - missed.length, missed },
    },
  };
}

async function histories(kind: Kind, first: number, count: number, bug: number): Promise<Told> {
  const given = [kind, first, count, EVENTS[kind], bug].map(String);
  const { stdout } = await run(process.execPath, [PROGRAM, ...given], { maxBuffer: 2 ** 26 });
  return JSON.parse(stdout) as Told;
}
