/** Curves of a job with many sites, of a whole day, painted. */
import { USE_UNITS, type UseMeasure, type UseReply } from "@resontech/contracts/http-use";
import { quantile } from "../../statistics.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import { type Figure, rounded } from "./figure.ts";
import type { LiveJob } from "./live-job.ts";
import { visit } from "./visit.ts";
import type { World } from "./world.ts";

const MEMBERS = 24;
const MEASURES: readonly UseMeasure[] = [
  ...(["cpu", "memory", "disk_read", "disk_write", "network_in", "network_out"] as const),
];
const POINTS = 1_000;
const DAY_S = 86_400;
const ROUNDS = 5;
const MOST_MS = 500;
/** What was drawn is in sight after them. */
const TWO_FRAMES =
  "new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))";

/** What Prometheus answers, and how soon, is `member-series`: here the answer is made up, and the page draws it. */
export async function manyCurves(world: World, live: LiveJob): Promise<Figure> {
  const page = await world.page(world.owner.userId);
  const answer = JSON.stringify(dayOfUse());
  await page.route(/\/api\/jobs\/[^/]+\/use(?:\?|$)/, (route) =>
    route.fulfill({ contentType: "application/json", body: answer }),
  );
  const painted: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    await visit(page, `${world.url}/jobs/${live.job}/logs`, { waitUntil: "networkidle" });
    const from = performance.now();
    await page.getByRole("tab", { name: "Use" }).click();
    await page
      .locator("figure canvas")
      .nth(MEASURES.length - 1)
      .waitFor();
    await page.evaluate(TWO_FRAMES);
    painted.push(performance.now() - from);
  }
  const figures = await page.getByRole("figure").count();
  await page.context().close();
  const paintMs = quantile(painted, 0.5);
  return {
    goal: "24 members × 6 curves of a day, 1,000 points each, painted in at most 500 ms",
    measured: {
      ...{ members: MEMBERS, curves: MEMBERS * MEASURES.length, points: POINTS, figures },
      ...{ answer_kb: rounded(answer.length / 1_000, 0), paint_p50_ms: rounded(paintMs) },
      paint_max_ms: rounded(Math.max(...painted)),
    },
    met: paintMs <= MOST_MS && figures >= MEASURES.length,
  };
}

function dayOfUse(): UseReply {
  const random = seededRandom(24);
  const toS = Math.floor(Date.now() / 1_000);
  const walk = (): number[] => {
    let value = 0.5;
    return Array.from({ length: POINTS }, () => {
      value = Math.min(1, Math.max(0, value + (random() - 0.5) / 10));
      return Math.round(value * 8e6) / 1e6;
    });
  };
  const series = Array.from({ length: MEMBERS }, (_, at) =>
    MEASURES.map((measure) => ({
      ...{ measure, unit: USE_UNITS[measure], values: walk() },
      of: { member: `member-${at}`, site: `site-${at + 1}`, attempt: "1", node: `node-${at % 8}` },
    })),
  ).flat();
  const stepS = Math.ceil(DAY_S / (POINTS - 1));
  return { fromS: toS - stepS * (POINTS - 1), toS, stepS, keptDays: 15, series };
}
