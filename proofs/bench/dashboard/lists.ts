/** Figures 2 and 3: lists of ten thousand jobs and of a thousand nodes. */
import { Agent, request } from "node:https";
import { quantile } from "../../statistics.ts";
import { type Figure, rounded } from "./figure.ts";
import { visit } from "./visit.ts";
import { pressedToPainted } from "./painted.ts";
import type { World } from "./world.ts";

const QUERIES = [
  ...["", "?state=FAILED", "?state=SUCCEEDED", "?state=CANCELLED,EXPIRED", "?text=study-17"],
  ...["?before=5000", "?state=FAILED&text=run%2012", "?before=300&state=SUCCEEDED"],
];
const ROUNDS = 30;
const GROUPS = ["All", "Finished", "Failed", "Cancelled"] as const;
const TEXTS = Array.from({ length: 12 }, (_, at) => `study-${at * 7}`);
const MOST_JOBS = { apiMs: 100, replyKb: 64, paintMs: 300 };
const MOST_NODES = { paintMs: 1_000, kb: 500 };

export async function tenThousandJobs(world: World): Promise<Figure> {
  const { url, caPem } = world.house.running;
  const times: number[] = [];
  let longest = 0;
  using agent = new ClosingAgent(caPem);
  for (let round = 0; round < ROUNDS; round += 1)
    for (const query of QUERIES) {
      const from = performance.now();
      const bytes = await agent.get(`${url}/api/jobs${query}`, world.owner.platformKey);
      times.push(performance.now() - from);
      longest = Math.max(longest, bytes);
    }
  const page = await world.page(world.owner.userId);
  const painted: number[] = [];
  for (const text of TEXTS) {
    // Each view is one that the page has not shown yet.
    await visit(page, `${world.url}/jobs?text=${text}&state=RUNNING`);
    await page.getByRole("button", { name: /^All/ }).waitFor();
    await page.getByText("No job matches").waitFor();
    for (const group of GROUPS) painted.push(await pressedToPainted(page, group, "/api/jobs?"));
  }
  await page.context().close();
  const apiMs = quantile(times, 0.95);
  const paintMs = quantile(painted, 0.95);
  return {
    goal: "10,000 jobs: list p95 at most 100 ms and 64 kB; filter to paint p95 at most 300 ms",
    measured: {
      ...{
        jobs: world.sizes.jobs,
        list_p95_ms: rounded(apiMs),
        reply_kb: rounded(longest / 1_000),
      },
      ...{ filter_to_paint_p95_ms: rounded(paintMs), lists: times.length, filters: painted.length },
    },
    met:
      apiMs <= MOST_JOBS.apiMs &&
      longest <= MOST_JOBS.replyKb * 1_000 &&
      paintMs <= MOST_JOBS.paintMs,
  };
}

export async function thousandNodes(world: World): Promise<Figure> {
  const page = await world.page(world.owner.userId, { roles: ["platform-admin"] });
  const painted: number[] = [];
  let bytes = 0;
  for (let round = 0; round < 5; round += 1) {
    await visit(page, `${world.url}/keys`, { waitUntil: "networkidle" });
    const answer = page.waitForResponse((response) => response.url().endsWith("/api/nodes"));
    painted.push(await pressedToPainted(page, "Nodes", "/api/nodes"));
    bytes = Math.max(bytes, (await (await answer).body()).length);
  }
  const rows = await page.getByRole("group", { name: "Nodes" }).getByRole("row").count();
  await page.context().close();
  const paintMs = quantile(painted, 0.5);
  return {
    goal: "1,000 nodes with 8 GPUs each painted in at most 1 s from at most 500 kB",
    measured: {
      ...{
        nodes: world.sizes.nodes,
        gpus: world.sizes.nodes * 8,
        reply_kb: rounded(bytes / 1_000),
      },
      ...{ paint_p50_ms: rounded(paintMs), paint_max_ms: rounded(Math.max(...painted)) },
      rows_in_the_page: rows,
    },
    met: Math.max(...painted) <= MOST_NODES.paintMs && bytes > 0 && bytes <= MOST_NODES.kb * 1_000,
  };
}

/** Keeps its connections, as a browser does. */
class ClosingAgent implements Disposable {
  readonly #agent: Agent;

  constructor(ca: string) {
    this.#agent = new Agent({ keepAlive: true, ca });
  }

  /** @returns bytes of the answer @throws Error where it is no 200 */
  async get(url: string, key: string): Promise<number> {
    const headers = { authorization: `Bearer ${key}` };
    return await new Promise((resolve, reject) => {
      request(url, { agent: this.#agent, headers }, (answer) => {
        let bytes = 0;
        answer.on("data", (chunk: Buffer) => (bytes += chunk.length));
        answer.on("end", () =>
          answer.statusCode === 200
            ? resolve(bytes)
            : reject(new Error(`${url} is ${answer.statusCode}`)),
        );
      })
        .on("error", reject)
        .end();
    });
  }

  [Symbol.dispose](): void {
    this.#agent.destroy();
  }
}
