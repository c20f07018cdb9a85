/** Every route that changes something, asked while auditd is stopped, and once it is back. */
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { isDeepStrictEqual } from "node:util";
import { askCoordinator } from "../../../appliance/src/first-boot/ask-coordinator.ts";
import type { LocalAppliance } from "../../../dev/local-appliance.ts";
import type { Answer, Api } from "../../appliance/api.ts";
import { untilHealthy } from "../../appliance/until-healthy.ts";
import type { RecordedJobs } from "../../jobs/recorded-job.ts";

const LIMIT_MS = 2_500;
const TABLES = [
  ...["users", "projects", "buckets", "platform_keys", "jobs", "members", "job_inputs", "uploads", "idempotency", "join_tokens"],
];

type Document = { paths: Record<string, Record<string, { "x-audit": { event?: string } }>> };
type Route = { method: string; path: string };

export type Refusals = {
  routes: number;
  slowestMs: number;
  /** Answered after more than 2.5 s; must be empty. */
  late: string[];
  /** Answered otherwise than 503; must be empty. */
  otherwise: string[];
  hadNoEffect: boolean;
  before?: unknown;
  after?: unknown;
  /** What was asked again once auditd was back, and not served; must be empty. */
  notServedAgain: string[];
};

export async function refusedWithoutAuditd(
  appliance: LocalAppliance,
  api: Api,
  jobs: RecordedJobs,
  progress: (line: string) => void,
): Promise<Refusals> {
  const document = (await api.call("GET", "/api/openapi.json")).body as Document;
  const routes: Route[] = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { "x-audit": audit }]) => audit.event !== undefined)
      .map(([method]) => ({ method: method.toUpperCase(), path })),
  );
  // No node's agent runs, so the job stays where it is until it is cancelled.
  await appliance.command(["stop", "agent"]);
  const job = await jobs.submit("waits", { rounds: 1, ticks: 1 });
  const login = await askCoordinator(`/run/resontech/${appliance.instance}/coordinator/control`, {
    verb: "registry-login",
    repository: "resontech/fl-cpu",
  });
  const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
  const [key] = (await api.call("GET", "/api/keys")).body as { id: string }[];
  const ask = ({ method, path }: Route): Promise<Answer> =>
    path === "/token"
      ? api.call("GET", "/token?service=registry&scope=repository:resontech/fl-cpu:pull", undefined, basic)
      : api.call(
          method as "POST",
          path.replace("{index}", "0").replace("{id}", path.startsWith("/api/keys") ? (key?.id ?? "") : job),
          BODIES[path],
        );

  progress(`auditd is stopped; ${routes.length} routes are asked`);
  const before = stateOf(appliance);
  await appliance.command(["stop", "auditd"]);
  const late: string[] = [];
  const otherwise: string[] = [];
  let slowestMs = 0;
  for (const route of routes) {
    const from = performance.now();
    const { status, body } = await ask(route);
    const ms = Math.round(performance.now() - from);
    slowestMs = Math.max(slowestMs, ms);
    if (ms > LIMIT_MS) late.push(`${route.method} ${route.path}: ${ms} ms`);
    if (status !== 503) otherwise.push(`${route.method} ${route.path}: ${status} ${JSON.stringify(body)}`);
  }
  const after = stateOf(appliance);
  await appliance.command(["start", "auditd"]);
  await untilHealthy(appliance, ["agent"]);

  const notServedAgain: string[] = [];
  const served = async (method: "GET" | "POST", path: string, body?: unknown): Promise<unknown> => {
    const answer = path === "/token" ? await ask({ method, path }) : await api.call(method, path, body);
    if (answer.status !== 200) notServedAgain.push(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  await served("GET", "/token");
  const opened = await served("POST", "/api/users/storage/upload/init", { key: "jobs/served/one", size: 5 });
  const { uploadId } = opened as { uploadId?: string };
  await served("POST", "/api/users/storage/upload/abort", { key: "jobs/served/one", uploadId });
  await served("POST", `/api/tasks/${job}/cancel`);
  await appliance.command(["start", "agent"]);
  await untilHealthy(appliance);
  const hadNoEffect = isDeepStrictEqual(before, after);
  return {
    routes: routes.length,
    slowestMs,
    late,
    otherwise,
    hadNoEffect,
    ...(hadNoEffect ? {} : { before, after }),
    notServedAgain,
  };
}

const BODIES: Record<string, unknown> = {
  "/api/tasks": {
    ...{ name: "refused", shardsDirPath: "/jobs/refused/shards", trainingScriptsFolderPath: "/jobs/refused/scripts" },
    ...{ trainingConfigFolderPath: "/jobs/refused/configs", trainingRequirementsFolderPath: "/jobs/refused/requirements" },
  },
  "/api/users/storage/upload/init": { key: "jobs/refused/one", size: 5 },
  "/api/users/storage/upload/complete": { key: "jobs/refused/one", uploadId: "x", parts: [{ PartNumber: 1, ETag: "x" }] },
  "/api/users/storage/upload/abort": { key: "jobs/refused/one", uploadId: "x" },
  "/api/nodes/join": { token: "rtj_none", csr: "none" },
};

/** What a request could have changed: rows, states of jobs, objects and open uploads, containers. */
function stateOf(appliance: LocalAppliance) {
  using db = new DatabaseSync(join(appliance.root, "data", "coordinator", "coordinator.db"), { readOnly: true });
  const rows = Object.fromEntries(TABLES.map((table) => [table, db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]]));
  const keys = db.prepare("SELECT access_key_id FROM buckets ORDER BY name").all();
  const jobs = db.prepare("SELECT * FROM jobs ORDER BY id").all();
  const objects = readdirSync(join(appliance.root, "data", "s3", "objects"), { recursive: true })
    .map(String)
    .toSorted();
  const { stdout } = spawnSync("podman", ["--url", `unix://${appliance.engineSocket}`, "ps", "-aq"], { encoding: "utf8" });
  return { rows, keys, jobs, objects, containers: stdout };
}
