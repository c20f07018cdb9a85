/**
 * How well the plan fills a fleet: tasks are drawn from a production trace until they ask for 130 % of its GPUs, and none ends, as in the paper that published
 * the trace. Beside ours, fragmentation gradient descent, best fit and first fit place the same tasks. Whole GPUs alone are given out, so the traced mix, of
 * which one task in a hundred takes several, leaves nothing to choose: mixes with more of those stand beside it, and what is left over at 100 %.
 *
 * `npm run prove -- placement-quality FOLDER [SEEDS [SEED]]`, the folder with `nodes.csv` and `pods.csv` of the trace
 */
import { seededRandom } from "@resontech/house/seeded-random";
import type { ProofContext, ProofResult } from "../proof.ts";
import { spread } from "../statistics.ts";
import { drawArrivals } from "./placement-quality/arrivals.ts";
import { readOpenb } from "./placement-quality/openb.ts";
import { leftOverByPlan } from "./placement-quality/our-choice.ts";
import { bestFit, firstFit, fragmentationDescent, leftOver } from "./placement-quality/rivals.ts";

const DEMANDS = [1, 1.3];
const SEEDS = 10;
/** Tasks that one plan sees: one by one as the rivals do, and as many as may wait together. */
const LOTS = [1, 64];
/** Of the GPUs that are asked for, those by tasks of several. */
const MIXES: Readonly<Record<string, number | null>> = { traced: null, half: 0.5, most: 0.8 };

type Left = Record<string, { median: number; min: number; max: number }>;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [folder, seeds = String(SEEDS), first = "1"] = args;
  if (folder === undefined) throw new Error("say the folder of the trace");
  const { nodes, tasks } = readOpenb(folder);
  const gpus = nodes.reduce((sum, node) => sum + node.gpus, 0);
  const unallocated: Record<string, Left> = {};
  const worse: string[] = [];
  for (const [mix, severalShare] of Object.entries(MIXES)) {
    const left: Record<string, number[]> = {};
    const note = (name: string, counts: readonly number[]) => {
      for (const [at, count] of counts.entries())
        (left[`${name} at ${100 * DEMANDS[at]!} %`] ??= []).push((100 * count) / gpus);
    };
    for (let seed = Number(first); seed < Number(first) + Number(seeds); seed += 1) {
      const demands = DEMANDS.map((demand) => demand * gpus);
      const arrivals = drawArrivals(tasks, seededRandom(seed), { severalShare, demands });
      for (const lot of LOTS) note(`ours by ${lot}`, leftOverByPlan(nodes, arrivals, lot));
      note("descent", leftOver(nodes, arrivals, fragmentationDescent(arrivals.arriving)));
      note("best fit", leftOver(nodes, arrivals, bestFit));
      note("first fit", leftOver(nodes, arrivals, firstFit));
      const told = Object.entries(left).map(([name, of]) => `${name} ${of.at(-1)!.toFixed(2)}`);
      progress(`${mix}, seed ${seed}, ${arrivals.arriving.length} tasks: ${told.join(", ")}`);
    }
    const of = Object.fromEntries(
      Object.entries(left).map(([name, counts]) => [name, spread(counts, 4)]),
    );
    unallocated[mix] = of;
    for (const demand of DEMANDS)
      for (const lot of LOTS) {
        const at = `at ${100 * demand} %`;
        const [ours, best] = [of[`ours by ${lot} ${at}`]!.median, of[`descent ${at}`]!.median];
        if (ours > best) worse.push(`${mix}, ours by ${lot} ${at}: ${ours}, descent ${best}`);
      }
  }
  return {
    ok: worse.length === 0,
    figures: { gpus, seeds: Number(seeds), unallocated_percent: unallocated, worse },
  };
}
