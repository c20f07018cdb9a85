/** An appliance in the middle of a day, as the pictures show it: jobs that run, wait, failed and finished, a model that answers, and a request that waits. */
import Database from "better-sqlite3";
import type { Page, Route } from "playwright-core";
import type { JobMetricsReply } from "@resontech/contracts/http-jobs";
import { commitRound } from "@resontech/coordinator/testing/commit-round";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import type { Look } from "./world.ts";
import { submitFederation } from "./federation.ts";
import { leaveModel, type Members, replay } from "./members.ts";
import { Office } from "./office.ts";
import { seedRows } from "./seed.ts";
import { deviceCurves, fleetUse, jobUse, nodeUse } from "./drawn-use.ts";

const EARLIER_JOBS = 120;
/** The job that runs has two, the model one: another job of two waits. */
const WORKERS = 4;
const ROUNDS = 20;
const ROUND_MS = 95_000;
const DONE = 13;

type Jobs = { running: string; failed: string; finished: readonly string[]; endpoint: string };

export class Scene implements AsyncDisposable {
  readonly #office: Office;
  readonly #jobs: Jobs;

  private constructor(office: Office, jobs: Jobs) {
    this.#office = office;
    this.#jobs = jobs;
  }

  static async open(progress: (line: string) => void): Promise<Scene> {
    const office = await Office.open(progress, WORKERS);
    try {
      const { house, ada, agent, gateway } = office;
      const file = house.running.config.databaseFile;
      seedRows(file, ada, { jobs: EARLIER_JOBS, nodes: 1 });
      makePlain(file);
      const finished: string[] = [];
      for (const [at, name] of ["scans by ward", "scans by age"].entries())
        finished.push(await trainedJob(office, name, at));
      const failed = await submitFederation(office, "scans of ward 3");
      await replay(agent, await agent.desiredOf(failed, 3), "site_exception");
      const endpoint = (await house.deploy(ada, "echo")).id;
      await gateway.answer(agent, endpoint);
      const running = await submitFederation(office, "digits");
      await train(office, await agent.desiredOf(running, 3), 0);
      for (const job of [...finished, running]) moveIntoThePast(file, job);
      await submitFederation(office, "segmentation", {
        ...{ workerIds: ["node-a-0", "node-a-1"], autoSelectWorkers: false },
        ...{ gpuModels: undefined, maxPricePerGpuHourCents: undefined },
      });
      for (const node of ["node-b", "node-c"]) await (await house.addNode(node, 2)).beat([]);
      await giveNodes(office);
      await askForRole(office);
      await fillBucket(office);
      progress("a day's work");
      return new Scene(office, { running, failed, finished, endpoint });
    } catch (error) {
      await office[Symbol.asyncDispose]();
      throw error;
    }
  }

  get url(): string {
    return this.#office.url;
  }

  /** What each page is of, by the name of its picture. */
  get paths(): Readonly<Record<string, string>> {
    const { running, failed, finished, endpoint } = this.#jobs;
    const asked = `from=7d&asked=${Date.now()}`;
    return {
      overview: "/",
      jobs: "/jobs",
      queue: "/queue",
      "queue-of-member": "/queue",
      ...Object.fromEntries(
        ["rounds", "curves", "use", "gpu", "events", "logs", "inputs"].map((tab) => [
          `job-${tab}`,
          `/jobs/${running}/${tab}`,
        ]),
      ),
      "job-files": `/jobs/${finished[0]}/files`,
      "job-failed": `/jobs/${failed}/rounds`,
      inference: "/inference",
      deployment: `/inference/jobs/${endpoint}`,
      deploy: "/inference/deploy",
      submit: "/submit",
      "submit-script": "/submit?as=command",
      "submit-again": `/submit?again=${failed}`,
      compare: `/compare?jobs=${finished.join(",")}`,
      nodes: "/nodes",
      node: "/nodes/node-a",
      storage: "/storage",
      keys: "/keys",
      people: "/people",
      "people-of-lead": "/people",
      profile: "/profile",
      approvals: "/approvals",
      audit: `/audit?question=rights&${asked}`,
      "audit-entry": `/audit/${new Date().getUTCFullYear()}/20`,
      appliance: "/appliance",
      "no-such-page": "/no-such-page",
    };
  }

  /** Of Ada's. */
  async page(look: Look): Promise<Page> {
    const page = await this.#office.page(this.#office.ada, look);
    page.setDefaultTimeout(30_000);
    await page.route(/\/api\/(?:jobs|nodes)\/[^/]+\/use(?:\?|$)|\/api\/use(?:\?|$)/, drawnUse);
    await page.route(/\/api\/jobs\/[^/]+\/devices$/, drawnDevices);
    return page;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#office[Symbol.asyncDispose]();
  }
}

/** The Prometheus of this house keeps nothing of jobs: the curves of use are drawn here. */
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

/** What a device told within a moment is drawn over the time that the job has run. */
async function drawnDevices(route: Route): Promise<void> {
  const response = await route.fetch();
  const told = (await response.json()) as JobMetricsReply;
  await route.fulfill({ response, json: deviceCurves(told, (DONE * ROUND_MS) / 1_000) });
}

/** @param phase of its curves, so that no two jobs are the same */
async function trainedJob(office: Office, name: string, phase: number): Promise<string> {
  const { agent } = office;
  const job = await submitFederation(office, name, { timeLimitMinutes: 60 * (phase + 1) });
  const members = await agent.desiredOf(job, 3);
  await train(office, members, phase);
  await leaveModel(agent, members);
  return job;
}

async function train({ agent }: Office, members: Members, phase: number): Promise<void> {
  const [server, client] = [members[0]!, members[1]!];
  await agent.bringUp(members);
  await agent.report(server, { kind: "job-started", nvflareJob: "nv-1" });
  for (let round = 1; round <= DONE; round += 1) {
    await agent.report(server, { kind: "round-started", round, numRounds: ROUNDS });
    for (const [at, site] of ["site-1", "site-2"].entries()) {
      const swing = 0.05 * Math.sin(round * 2 + at + phase);
      const loss = 2.2 * Math.exp(-round / (5 + 2 * phase)) + 0.08 * at + swing + 0.06;
      const value = JSON.stringify({ round, loss, accuracy: 1 - loss / 2.6 });
      await agent.report(server, { kind: "metric", site, value });
    }
    if (round === DONE) break;
    const sites = round % 6 === 5 ? ["site-1"] : ["site-1", "site-2"];
    await agent.report(server, { kind: "round-ended", round, sites, isFinite: true });
    if (round % 4 === 0) await commitRound(agent, server, round);
  }
  await agent.beat(members.slice(), [
    {
      ...{ worker: client.resources.workers[0]!, memoryInUseBytes: 3 * 1024 ** 3 },
      ...{ utilizationPercent: 72, powerWatts: 250, ageMs: 0 },
    },
  ]);
  let offset = 0;
  for (let at = 0; at < 60; at += 1) {
    const text = `2026-11-26 12:00:${String(at).padStart(2, "0")},000 INFO epoch ${at} loss ${(2 / (at + 1)).toFixed(4)}\n`;
    await agent.tail({
      ...{ job: client.job, member: client.member, offset },
      ...{ bytes: text.length, text },
    });
    offset += text.length;
  }
}

/** An administrator asks for a role for somebody; an officer is there, who could answer. */
async function askForRole({ house }: Office): Promise<void> {
  const { running } = house;
  const [root, officer, mei] = [
    await house.addUser("root"),
    await house.addUser("olga"),
    await house.addUser("mei"),
  ];
  running.giveRoles(officer.userId, ["security-officer"]);
  const session = await running.signedIn(root.userId, { roles: ["platform-admin"] });
  const reply = await fetchWithCa(running.caPem, `${running.url}/api/approvals`, {
    method: "POST",
    headers: { ...session, "content-type": "application/json" },
    body: JSON.stringify({
      what: { kind: "role", userId: mei.userId, role: "data-steward", change: "grant" },
      reason: "she registers the scans of ward 3",
    }),
  });
  if (reply.status !== 201) throw new Error(await reply.text());
}

/** A pool with rules, what it makes impossible, and something in the calendar. */
async function giveNodes({ house, ada }: Office): Promise<void> {
  const { running } = house;
  await running.control("share-set", { id: ada.project, guarantee: { cpu: 4 } });
  await running.control("pool-add", {
    ...{ name: "imaging", kind: "managed", project: ada.project, nodes: ["node-b"], lends: true },
    ...{ mostRunMinutes: 600, classes: ["train", "interactive"], projectWorkers: 2 },
    workerModels: ["h100"],
  });
  const day = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();
  await running.control("calendar-add", {
    ...{ nodes: ["node-c"], from: day(2), until: day(2.25), reason: "new firmware" },
  });
}

async function fillBucket({ house, ada }: Office): Promise<void> {
  const { store } = house.running.s3;
  for (let ward = 1; ward <= 4; ward += 1)
    await store.put(
      ...([ada.bucketAlias, `scans/ward-${ward}.csv`, "id,label\n".repeat(ward * 9_000)] as const),
      "text/csv",
    );
}

/** Rows of the figures are named for what ended them, and one ran on a node that is silent: a picture shows what people have. */
function makePlain(file: string): void {
  const db = new Database(file, { timeout: 30_000 });
  try {
    db.exec(
      `UPDATE jobs SET message = NULL, name = 'study-' || (sequence % 97) || ' run ' || sequence WHERE name LIKE 'ended by %' OR name LIKE 'a million %';
       DELETE FROM members WHERE node_id LIKE 'rack%';
       DELETE FROM workers WHERE node_id LIKE 'rack%';
       DELETE FROM nodes WHERE id LIKE 'rack%';`,
    );
  } finally {
    db.close();
  }
}

/** Rounds take no time here: they get the times that they would have. */
function moveIntoThePast(file: string, job: string): void {
  const db = new Database(file, { timeout: 30_000 });
  try {
    const begin = Date.now() - DONE * ROUND_MS + 40_000;
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
