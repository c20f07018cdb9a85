/**
 * Nothing escapes the log. While auditd is stopped every route that changes something answers 503 within 2.5 s and changes nothing in database,
 * object store or containers; afterwards the same requests are served. What a kill -9 of each producer leaves open is closed by its next life.
 * Commands of the operator have their leaves, and every operation of the whole log has one request and one outcome.
 *
 * `npm run prove -- audit-operations`
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { S3Transport } from "../coordinator/src/storage/s3-transport.ts";
import type { LocalAppliance } from "../dev/local-appliance.ts";
import { verifyAudit } from "../dev/verify-audit.ts";
import { Api } from "./appliance/api.ts";
import { ProofAppliance } from "./appliance/proof-appliance.ts";
import { untilHealthy } from "./appliance/until-healthy.ts";
import { ApplianceLog } from "./audit/appliance-log.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const LIMIT_MS = 2_500;
const TABLES = [
  "users",
  "projects",
  "buckets",
  "platform_keys",
  "jobs",
  "members",
  "job_inputs",
  "uploads",
  "idempotency",
  "join_tokens",
];

type Document = { paths: Record<string, Record<string, { "x-audit": { event?: string } }>> };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using installed = await ProofAppliance.install(progress);
  const { appliance, bundle } = installed;
  const log = new ApplianceLog(appliance);
  const api = new Api(appliance);
  try {
    const refusals = await refusedWithoutAuditd(appliance, api, progress);
    const orphans = await orphansClosed(appliance, api, log, progress);
    const commands = await commandsRecorded(appliance, log, progress);
    const uneven = await log.uneven();
    const audit = await verifyAudit(appliance, installed.folder("audit"), bundle.bundle);
    const ok =
      refusals.late.length === 0 &&
      refusals.otherwise.length === 0 &&
      refusals.hadNoEffect &&
      refusals.servedAgain &&
      Object.values(orphans).every((one) => one === "interrupted") &&
      commands.missing.length === 0 &&
      uneven.length === 0 &&
      audit["SIGNATURE"] === "PASS" &&
      audit["INTEGRITY"] === "PASS";
    return { ok, figures: { refusals, orphans, commands, uneven, audit } };
  } finally {
    api.close();
  }
}

async function refusedWithoutAuditd(appliance: LocalAppliance, api: Api, progress: (line: string) => void) {
  const { body } = await api.call("GET", "/api/openapi.json");
  const bodies: Record<string, unknown> = {
    "/api/tasks": {
      ...{ name: "refused", shardsDirPath: "/jobs/refused/shards", trainingScriptsFolderPath: "/jobs/refused/scripts" },
      ...{ trainingConfigFolderPath: "/jobs/refused/configs", trainingRequirementsFolderPath: "/jobs/refused/requirements" },
    },
    "/api/users/storage/upload/init": { key: "jobs/refused/one", size: 5 },
    "/api/users/storage/upload/complete": { key: "jobs/refused/one", uploadId: "x", parts: [{ PartNumber: 1, ETag: "x" }] },
    "/api/users/storage/upload/abort": { key: "jobs/refused/one", uploadId: "x" },
    "/api/nodes/join": { token: "rtj_none", csr: "none" },
  };
  const keys = (await api.call("GET", "/api/keys")).body as { id: string }[];
  const routes = Object.entries((body as Document).paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      // A task to cancel needs one that was accepted, and a password for the registry one that was issued.
      .filter(([, { "x-audit": audit }]) => audit.event !== undefined && path !== "/token" && !path.endsWith("/cancel"))
      .map(([method]) => ({ method: method.toUpperCase(), path: path.replace("{id}", keys[0]?.id ?? ""), body: bodies[path] })),
  );
  progress(`auditd is stopped; ${routes.length} routes are asked`);
  const before = stateOf(appliance);
  await appliance.command(["stop", "auditd"]);
  const late: string[] = [];
  const otherwise: string[] = [];
  let slowestMs = 0;
  for (const { method, path, body: sent } of routes) {
    const from = performance.now();
    const { status, body: answer } = await api.call(method as "POST", path, sent);
    const ms = performance.now() - from;
    slowestMs = Math.max(slowestMs, Math.round(ms));
    if (ms > LIMIT_MS) late.push(`${method} ${path}: ${Math.round(ms)} ms`);
    if (status !== 503) otherwise.push(`${method} ${path}: ${status} ${JSON.stringify(answer)}`);
  }
  const after = stateOf(appliance);
  await appliance.command(["start", "auditd"]);
  await untilHealthy(appliance);
  const init = await api.call("POST", "/api/users/storage/upload/init", { key: "jobs/served/one", size: 5 });
  const { uploadId } = init.body as { uploadId: string };
  const abort = await api.call("POST", "/api/users/storage/upload/abort", { key: "jobs/served/one", uploadId });
  return {
    routes: routes.length,
    slowestMs,
    late,
    otherwise,
    hadNoEffect: isDeepStrictEqual(before, after),
    ...(isDeepStrictEqual(before, after) ? {} : { before, after }),
    servedAgain: init.status === 200 && abort.status === 200,
  };
}

/** What a request could have changed: rows, objects and open uploads, containers. */
function stateOf(appliance: LocalAppliance) {
  using db = new DatabaseSync(join(appliance.root, "data", "coordinator", "coordinator.db"), { readOnly: true });
  const rows = Object.fromEntries(TABLES.map((table) => [table, db.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.["n"]]));
  const keys = db.prepare("SELECT access_key_id FROM buckets ORDER BY name").all();
  const objects = readdirSync(join(appliance.root, "data", "s3", "objects"), { recursive: true })
    .map(String)
    .toSorted();
  const { stdout } = spawnSync("podman", ["--url", `unix://${appliance.engineSocket}`, "ps", "-aq"], { encoding: "utf8" });
  return { rows, keys, objects, containers: stdout };
}

/** Each producer dies with an operation open; how the log says that it ended. */
async function orphansClosed(appliance: LocalAppliance, api: Api, log: ApplianceLog, progress: (line: string) => void) {
  const pidOf = (part: string): number => appliance.status().parts.find(({ name }) => name === part)?.pid ?? 0;
  const closedAs = async (from: number, type: string) =>
    (await log.since(from)).findLast((leaf) => leaf.type === type && leaf.phase === "failed")?.outcome?.code ?? "open";

  progress("the coordinator is killed while the object store has not answered it");
  let size = await log.size();
  const engine = pidOf("s3");
  process.kill(engine, "SIGSTOP");
  const asked = api.call("POST", "/api/users/storage/upload/init", { key: "jobs/killed/one", size: 5 }).catch(() => null);
  await sleep(1_000);
  process.kill(pidOf("coordinator"), "SIGKILL");
  await asked;
  process.kill(engine, "SIGCONT");
  await untilHealthy(appliance);
  const coordinator = await closedAs(size, "data.upload.init");

  progress("the S3 front is killed while an object comes in");
  size = await log.size();
  const put = await slowWrite(appliance, api);
  await sleep(1_000);
  process.kill(pidOf("s3-front"), "SIGKILL");
  await put.ended;
  await untilHealthy(appliance);
  const front = await closedAs(size, "data.object.write");

  progress("the command is killed while a part stops");
  size = await log.size();
  const registry = pidOf("registry");
  process.kill(registry, "SIGSTOP");
  const command = spawn(join(appliance.root, "current", "bin", "appliance"), ["--root", appliance.root, "stop", "registry"], {
    detached: true,
    stdio: "ignore",
  });
  const exited = once(command, "exit");
  await sleep(3_000);
  process.kill(-(command.pid ?? 0), "SIGKILL");
  await exited;
  process.kill(registry, "SIGCONT");
  await appliance.command(["start", "registry"]).catch(() => appliance.command(["start", "registry"]));
  await untilHealthy(appliance);
  return { coordinator, front, command: await closedAs(size, "admin.stop") };
}

/** A write of the first user's that is under way until somebody ends it. */
async function slowWrite(appliance: LocalAppliance, api: Api): Promise<{ ended: Promise<void> }> {
  const quickstart = appliance.quickstart();
  const { endpoint, region, bucketAlias } = (await api.call("GET", "/api/users/storage/bucket")).body as Record<string, string>;
  const ca = readFileSync(quickstart["SSL_CERT_FILE"] ?? "", "utf8");
  const credentials = {
    accessKeyId: quickstart["RESON_S3_ACCESS_KEY_ID"] ?? "",
    secretAccessKey: quickstart["RESON_S3_SECRET_ACCESS_KEY"] ?? "",
  };
  using s3 = new S3Transport({ endpoint: endpoint ?? "", region: region ?? "", ca, credentials });
  const url = await s3.presign("PUT", [bucketAlias ?? "", "jobs/killed/two"], {}, 60);
  const sent = request(url, { method: "PUT", ca, headers: { "content-length": "5000000" } });
  const ended = new Promise<void>((resolve) => {
    sent.on("close", resolve).on("error", () => resolve());
  });
  sent.write(Buffer.alloc(100_000));
  return { ended };
}

/** Commands that a running appliance can be given without harm, and the leaf that each must leave. */
async function commandsRecorded(appliance: LocalAppliance, log: ApplianceLog, progress: (line: string) => void) {
  progress("commands of the operator");
  const size = await log.size();
  await appliance.command(["restart", "registry"]);
  await appliance.command(["stop", "registry"]);
  await appliance.command(["start", "registry"]);
  await appliance.command(["add-user", "second"]);
  await appliance.command(["join-token", "other-node"]);
  await appliance.command(["image", "pull", "fl-cpu"]);
  await appliance.command(["audit", "export", "--out", join(appliance.root, "data", "proof-export.tar")]);
  const done = (await log.since(size)).filter(({ phase }) => phase === "completed").map(({ type }) => type);
  const installed = (await log.since(0)).some(({ type, phase }) => type === "admin.install" && phase === "completed");
  const wanted = [
    "admin.restart",
    "admin.stop",
    "admin.start",
    "iam.user.create",
    "iam.node.join-token",
    "admin.control",
    "audit.export",
  ];
  const missing = wanted.filter((type) => !done.some((other) => other === type));
  return { found: wanted.length - missing.length, missing: installed ? missing : [...missing, "admin.install"] };
}
