/** An appliance in the middle of a day, as the pictures show it: jobs that run, wait, failed and finished, with curves, logs and use. */
import Database from "better-sqlite3";
import type { Page, Route } from "playwright-core";
import { commitRound } from "@resontech/coordinator/testing/commit-round";
import type { ScriptedAgent } from "@resontech/coordinator/testing/scripted-agent";
import type { AddedUser, Look } from "./world.ts";
import { World } from "./world.ts";
import { jobOfReason } from "./seed.ts";
import { fleetUse, jobUse, nodeUse } from "./drawn-use.ts";

const SIZES = { jobs: 120, nodes: 12, lines: 6_000 };
const ROUNDS = 20;
const ROUND_MS = 95_000;
const DONE = 13;

export class Scene implements AsyncDisposable {
  readonly world: World;
  readonly owner: AddedUser;
  /** The job that runs. */
  readonly job: string;
  readonly #agent: ScriptedAgent;

  private constructor(world: World, owner: AddedUser, job: string, agent: ScriptedAgent) {
    this.world = world;
    this.owner = owner;
    this.job = job;
    this.#agent = agent;
  }

  static async open(progress: (line: string) => void): Promise<Scene> {
    const world = await World.open(SIZES, progress);
    const { house, owner } = world;
    const agent = await house.addNode("node-a", 2);
    await agent.beat([]);
    const job = await house.submit(owner, "digits");
    await train(agent, job);
    agent.keepBeating();
    await house.submit(owner, "segmentation-waits");
    moveIntoThePast(house.running.config.databaseFile, job);
    return new Scene(world, owner, job, agent);
  }

  /** What each page is of, by the name of its picture. */
  get paths(): Readonly<Record<string, string>> {
    const failed = jobOfReason("user_exception");
    return {
      overview: "/",
      jobs: "/jobs",
      ...Object.fromEntries(
        ["rounds", "curves", "use", "gpu", "events", "logs", "files", "inputs"].map((tab) => [
          `job-${tab}`,
          `/jobs/${this.job}/${tab}`,
        ]),
      ),
      "job-failed": `/jobs/${failed}/rounds`,
      inference: "/inference",
      submit: "/submit",
      "submit-script": "/submit?as=command",
      "submit-again": `/submit?again=${this.job}`,
      compare: `/compare?jobs=${this.job},${failed}`,
      nodes: "/nodes",
      node: "/nodes/node-a",
      storage: "/storage",
      keys: "/keys",
      people: "/people",
      profile: "/profile",
      approvals: "/approvals",
      audit: "/audit",
      appliance: "/appliance",
      "no-such-page": "/no-such-page",
    };
  }

  async page(look: Look): Promise<Page> {
    const page = await this.world.page(this.owner.userId, look);
    await this.stub(page);
    return page;
  }

  async stub(page: Page): Promise<void> {
    await page.route(/\/api\/(?:jobs|nodes)\/[^/]+\/use(?:\?|$)|\/api\/use(?:\?|$)/, drawnUse);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#agent.close();
    await this.world[Symbol.asyncDispose]();
  }
}

/** No Prometheus is in this house: the curves of use are drawn here. */
async function drawnUse(route: Route): Promise<void> {
  const url = new URL(route.request().url());
  const end = Number(url.searchParams.get("to") ?? Date.now());
  const from = Number(url.searchParams.get("from") ?? end - 86_400_000);
  const draw = url.pathname.startsWith("/api/jobs")
    ? jobUse
    : url.pathname.startsWith("/api/nodes")
      ? nodeUse
      : fleetUse;
  await route.fulfill({ json: draw(from / 1_000, end / 1_000) });
}

async function train(agent: ScriptedAgent, job: string): Promise<void> {
  const members = await agent.desiredOf(job, 3);
  const [server, client] = [members[0]!, members[1]!];
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  for (let round = 1; round <= DONE; round += 1) {
    await agent.report(server, { kind: "round-started", round, numRounds: ROUNDS });
    for (const [at, site] of ["site-1", "site-2"].entries()) {
      const loss = 2.2 * Math.exp(-round / 5) + 0.08 * at + 0.05 * Math.sin(round * 2 + at);
      const value = JSON.stringify({ round, loss, accuracy: 1 - loss / 2.6 });
      await agent.report(server, { kind: "metric", site, value });
    }
    if (round === DONE) break;
    const sites = round % 6 === 5 ? ["site-1"] : ["site-1", "site-2"];
    await agent.report(server, { kind: "round-ended", round, sites, isFinite: true });
    if (round % 4 === 0) await commitRound(agent, server, round);
  }
  const use = (at: number) => ({
    ...{ worker: client.resources.workers[0]!, memoryInUseBytes: 3 * 1024 ** 3 + at * 1e7 },
    ...{ utilizationPercent: 60 + 30 * Math.sin(at / 3), powerWatts: 250, ageMs: 0 },
  });
  for (let at = 0; at < 8; at += 1) await agent.beat(members, [use(at)]);
  let offset = 0;
  for (let at = 0; at < 60; at += 1) {
    const text = `2026-11-26 12:00:${String(at).padStart(2, "0")},000 INFO epoch ${at} loss ${(2 / (at + 1)).toFixed(4)}\n`;
    await agent.tail({ job, member: client.member, offset, bytes: text.length, text });
    offset += text.length;
  }
}

/** Rounds take no time here: they get the times that they would have. */
function moveIntoThePast(file: string, job: string): void {
  const db = new Database(file, { timeout: 30_000 });
  try {
    const now = Date.now();
    const begin = now - DONE * ROUND_MS + 40_000;
    const round = db.prepare(
      "UPDATE rounds SET started_at = ?, ended_at = CASE WHEN ended_at IS NULL THEN NULL ELSE ? END WHERE job_id = ? AND round = ?",
    );
    for (let at = 1; at <= DONE; at += 1) {
      const slow = at % 6 === 5 ? 30_000 : 0;
      round.run(begin + (at - 1) * ROUND_MS, begin + at * ROUND_MS - 32_000 + slow, job, at);
    }
    db.prepare("UPDATE jobs SET started_at = ?, created_at = ?, num_rounds = ? WHERE id = ?").run(
      begin - 60_000,
      begin - 200_000,
      ROUNDS,
      job,
    );
  } finally {
    db.close();
  }
}
