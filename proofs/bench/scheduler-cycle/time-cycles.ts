/** Times cycles of the pure plan on a made fleet that is full, while jobs end and arrive. Prints one JSON line. */
import { plan, type Snapshot } from "@resontech/coordinator/placement";
import { quantile } from "../../statistics.ts";
import { MadeFleet } from "./made-fleet.ts";

const [nodes = 100, queued = 1_000, cycles = 100, seed = 1] = process.argv.slice(2, 6).map(Number);
const hasShares = process.argv[6] === "shares";

const fleet = new MadeFleet(nodes, seed);
const snapshot = (): Snapshot => {
  const { gangs, nodes: machines, workers, shares, running, now } = fleet;
  return {
    ...{ gangs, nodes: machines, workers },
    ...(hasShares ? { sharing: { now, shares, used: new Map(), running } } : {}),
  };
};
fleet.arrive(queued);
// Until nothing more fits, with as many in line as are asked for.
let fill = 0;
for (;;) {
  const from = performance.now();
  const { placements } = plan(snapshot());
  fill = Math.max(fill, performance.now() - from);
  if (placements.length === 0) break;
  fleet.begin(placements);
  fleet.arrive(queued - fleet.gangs.length);
}
const times: number[] = [];
let [placed, preempted] = [0, 0];
for (let cycle = 0; cycle < cycles; cycle += 1) {
  fleet.now += 60_000;
  fleet.end(Math.max(1, Math.round(nodes / 100)));
  fleet.arrive(queued - fleet.gangs.length);
  const given = snapshot();
  const from = performance.now();
  const { placements, preemptions } = plan(given);
  times.push(performance.now() - from);
  placed += placements.length;
  preempted += preemptions.length;
  fleet.begin(placements);
  fleet.makeWay(preemptions);
}
globalThis.gc?.();
process.stdout.write(
  `${JSON.stringify({
    ...{
      nodes,
      queued,
      running: fleet.running.length,
      shares: hasShares,
      cycles,
      placed,
      preempted,
    },
    p50_ms: quantile(times, 0.5),
    p99_ms: quantile(times, 0.99),
    fill_ms: fill,
    heap_mb: process.memoryUsage().heapUsed / 2 ** 20,
    rss_mb: process.memoryUsage.rss() / 2 ** 20,
  })}\n`,
);
