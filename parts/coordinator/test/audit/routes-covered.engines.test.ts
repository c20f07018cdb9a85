/**
 * Every route of the running coordinator that declares an event is driven, and its leaf is found in the real log. A canary stands in every
 * text field, path and header that a caller may write, and in no leaf.
 */
import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { PersonalDataLine } from "@resontech/contracts/http-personal-data";
import t from "tap";
import { QUESTION_IDS, QUESTIONS } from "@resontech/contracts/audit-questions";
import { exportLog } from "@resontech/audit/export";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningCoordinator } from "../helper/running-coordinator.ts";
import { joinAgent } from "../helper/join-agent.ts";
import { goodBody, goodFiles, upload, uploadPredictor } from "../helper/workspace.ts";
import { makeSigningRequest } from "../nodes/node-certificates.ts";
import { askQuestion } from "@resontech/cli/audit-questions";
import { countAnswers } from "./count-answers.ts";

const ANSWERS = join(import.meta.dirname, "../../../../docs/auditor/answers.md");

const CANARY = "canary7f3a";
const coordinator = await RunningCoordinator.create({ identity: true, vault: true });
t.teardown(() => coordinator[Symbol.asyncDispose]());
await coordinator.startSearch();
const alice = await coordinator.control("add-user", { username: CANARY });
const key = alice.platformKey;
const bob = await coordinator.control("add-user", { username: "bob" });
/** As people: an administrator, who leads the own project, and another one. */
const person = await coordinator.signedIn(alice.userId, { roles: ["platform-admin"] });
const other = await coordinator.signedIn(bob.userId, { roles: ["platform-admin"] });
const asPerson = (method: string, path: string, body?: object) =>
  call(method, path, body, undefined, person);

type Declared = { event: string; loggedBy?: string } | { none: string };
type Document = { paths: Record<string, Record<string, { "x-audit": Declared }>> };
const document = (await coordinator.get("/api/openapi.json")).body as unknown as Document;
const routes = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { "x-audit": audit }]) => ({
    name: `${method.toUpperCase()} ${path}`,
    audit,
  })),
);

/** A request with the canary in whatever of it a caller may choose. */
async function call(
  method: string,
  path: string,
  body?: object,
  authorization = `Bearer ${key}`,
  session: Record<string, string> | null = null,
) {
  const reply = await fetchWithCa(coordinator.caPem, coordinator.url + path, {
    method,
    headers: {
      ...{
        ...(session === null ? { authorization, cookie: CANARY } : session),
        "user-agent": CANARY,
        "x-request-id": CANARY,
        "x-forwarded-for": CANARY,
      },
      ...{ referer: `https://${CANARY}/`, "idempotency-key": `${CANARY}-${Math.random()}` },
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // A page, a redirect to Keycloak and an answer without a body are no JSON.
  const answer = (await reply.json().catch(() => ({}))) as Record<string, never>;
  return { status: reply.status, body: answer };
}

const storage = "/api/users/storage";
const object = `jobs/${CANARY}/one.bin`;
const initialised = () =>
  call("POST", `${storage}/upload/init`, { key: object, size: 3, contentType: `text/${CANARY}` });
async function submitted(slug: string) {
  await upload(coordinator.s3, alice.bucketAlias, slug, goodFiles());
  return await call("POST", "/api/tasks", { ...goodBody(slug), name: `${CANARY} of ${slug}` });
}

async function deployed(slug: string) {
  await uploadPredictor(coordinator.s3, alice.bucketAlias, slug);
  return await call("POST", "/api/inference/jobs", {
    ...{ name: `${CANARY} of ${slug}`, jobPath: `/inference_jobs/${slug}`, gpuModels: ["cpu"] },
    callbackUrl: `https://${CANARY}/`,
  });
}

/** A job with a place to run, made once. */
let placed: Promise<{ id: string; member: string }> | null = null;
const placedJob = () => (placed ??= placeJob());
async function placeJob(): Promise<{ id: string; member: string }> {
  const agent = await joinAgent(coordinator, "node-of-logs", 8);
  const id = String((await submitted(`${CANARY}-d`)).body["id"]);
  const [member] = await agent.desiredOf(id, 3);
  await agent.close();
  return { id, member: String(member?.member) };
}

const requested = () =>
  asPerson("POST", "/api/approvals", {
    what: { kind: "quota", projectId: alice.project, bytes: 2 ** 30 },
    reason: CANARY,
  });
async function answered(verb: string) {
  const path = `/api/approvals/${(await requested()).body["id"]}/${verb}`;
  return await call("POST", path, { reason: CANARY }, undefined, other);
}

async function inHub(name: string) {
  await coordinator.s3.store.put(alice.bucketAlias, `hubbed/${name}.bin`, "abc", "text/plain");
  return await call("POST", "/api/hub/models", {
    ...{ name: `lab/${name}`, licence: CANARY, path: `/hubbed/${name}.bin` },
  });
}

/** At two points; workers are for the job whose logs are read, so whoever makes one also cancels it. */
async function arrayed(slug: string) {
  await upload(coordinator.s3, alice.bucketAlias, slug, { "scripts/fit.py": "print(1)\n" });
  return await call("POST", "/api/arrays", {
    task: {
      ...{ kind: "command", name: `${CANARY} of ${slug}` },
      scriptPath: `/jobs/${slug}/scripts/fit.py`,
    },
    grid: [{ name: "lr", values: [CANARY, "2"] }],
  });
}

const scheduled = () =>
  call("POST", "/api/schedules", {
    ...{ name: CANARY, cron: "0 3 * * *", timeZone: "UTC" },
    task: { ...goodBody(`${CANARY}-h`), name: CANARY },
  });

const pooled = (name: string) => asPerson("POST", "/api/pools", { name, kind: "shared" });

/** The nodes of a pool that has none. */
async function closed(name: string) {
  const { body } = await pooled(name);
  const times = {
    from: "2026-12-01T00:00Z",
    until: new Date(Date.now() + 86_400_000).toISOString(),
  };
  return await asPerson("POST", "/api/calendar", { pool: body["id"], ...times, reason: CANARY });
}

/** How each route is driven to the end that its declaration is about; the status that it then answers. */
const DRIVES: Record<string, () => Promise<number>> = {
  "POST /api/tasks": async () => (await submitted(`${CANARY}-a`)).status,
  "POST /api/tasks/{id}/cancel": async () => {
    const { id } = (await submitted(`${CANARY}-b`)).body;
    return (await call("POST", `/api/tasks/${id}/cancel`)).status;
  },
  "POST /api/tasks/{id}/resubmit": async () => {
    const { id } = (await submitted(`${CANARY}-e`)).body;
    await call("POST", `/api/tasks/${id}/cancel`);
    return (await call("POST", `/api/tasks/${id}/resubmit`)).status;
  },
  "POST /api/tasks/{id}/variants": async () => {
    const { id } = (await submitted(`${CANARY}-f`)).body;
    await call("POST", `/api/tasks/${id}/cancel`);
    const made = await call("POST", `/api/tasks/${id}/variants`, { timeLimitMinutes: 5 });
    // Workers are for the job whose logs are read.
    await call("POST", `/api/tasks/${made.body["id"]}/cancel`);
    return made.status;
  },
  "POST /api/arrays": async () => {
    const made = await arrayed(`${CANARY}-i`);
    await call("POST", `/api/arrays/${made.body["id"]}/cancel`);
    return made.status;
  },
  "POST /api/arrays/{id}/cancel": async () => {
    const { id } = (await arrayed(`${CANARY}-j`)).body;
    return (await call("POST", `/api/arrays/${id}/cancel`)).status;
  },
  "POST /api/schedules": async () => (await scheduled()).status,
  "PUT /api/schedules/{id}": async () => {
    const { id } = (await scheduled()).body;
    return (await call("PUT", `/api/schedules/${id}`, { isPaused: true })).status;
  },
  "DELETE /api/schedules/{id}": async () => {
    const { id } = (await scheduled()).body;
    return (await call("DELETE", `/api/schedules/${id}`)).status;
  },
  "POST /api/pools": async () => (await pooled("one")).status,
  "PUT /api/pools/{id}": async () => {
    const { id } = (await pooled("two")).body;
    return (await asPerson("PUT", `/api/pools/${id}`, { mostRunMinutes: 5 })).status;
  },
  "DELETE /api/pools/{id}": async () => {
    const { id } = (await pooled("three")).body;
    return (await asPerson("DELETE", `/api/pools/${id}`)).status;
  },
  "POST /api/calendar": async () => (await closed("four")).status,
  "PUT /api/calendar/{id}": async () => {
    const { id } = (await closed("five")).body;
    return (await asPerson("PUT", `/api/calendar/${id}`, { reason: CANARY })).status;
  },
  "DELETE /api/calendar/{id}": async () => {
    const { id } = (await closed("six")).body;
    return (await asPerson("DELETE", `/api/calendar/${id}`)).status;
  },
  // A share of weight 1 that says nothing more is none.
  "PUT /api/shares/{id}": async () =>
    (await asPerson("PUT", `/api/shares/${alice.project}`, { weight: 1 })).status,
  "POST /api/jobs/{id}/download": async () => {
    const { id } = (await submitted(`${CANARY}-g`)).body;
    const inputs = await call("GET", `/api/jobs/${id}/inputs`);
    const [input] = inputs.body as unknown as { key: string; versionId: string }[];
    const { key, versionId } = input!;
    await call("POST", `/api/tasks/${id}/cancel`);
    return (await call("POST", `/api/jobs/${id}/download`, { key, versionId })).status;
  },
  "DELETE /api/tasks/{id}/outputs": async () => {
    const { id } = (await submitted(`${CANARY}-c`)).body;
    await call("POST", `/api/tasks/${id}/cancel`);
    return (await call("DELETE", `/api/tasks/${id}/outputs`)).status;
  },
  "POST /api/inference/jobs": async () => (await deployed(`${CANARY}-a`)).status,
  "DELETE /api/inference/jobs/{id}": async () => {
    const { jobId } = (await deployed(`${CANARY}-b`)).body;
    return (await call("DELETE", `/api/inference/jobs/${jobId}`)).status;
  },
  "POST /api/inference/jobs/{id}/rotate-key": async () => {
    const { jobId } = (await deployed(`${CANARY}-c`)).body;
    return (await call("POST", `/api/inference/jobs/${jobId}/rotate-key`)).status;
  },
  "GET /api/inference/jobs/{id}/logs": async () => {
    const { jobId } = (await deployed(`${CANARY}-d`)).body;
    return (await call("GET", `/api/inference/jobs/${jobId}/logs`)).status;
  },
  "POST /api/hub/models": async () => (await inHub("a")).status,
  "DELETE /api/hub/models/{organisation}/{model}/{revision}": async () => {
    await inHub("b");
    return (await call("DELETE", "/api/hub/models/lab/b/main")).status;
  },
  "GET /{organisation}/{model}/resolve/{revision}/{*}": async () => {
    await inHub("c");
    for (let tries = 0; tries < 2_000; tries++) {
      const { status } = await call("GET", "/lab/c/resolve/main/c.bin?x=1");
      if (status !== 409) return status;
      await sleep(50);
    }
    return 0;
  },
  "GET /api/jobs/{id}/logs/{member}": async () => {
    const { id, member } = await placedJob();
    return (await call("GET", `/api/jobs/${id}/logs/${member}`)).status;
  },
  "GET /api/jobs/{id}/logs/{member}/whole": async () => {
    const { id, member } = await placedJob();
    return (await call("GET", `/api/jobs/${id}/logs/${member}/whole`)).status;
  },
  "GET /api/jobs/{id}/logs/search": async () => {
    const { id } = await placedJob();
    return (await call("GET", `/api/jobs/${id}/logs/search?text=${CANARY}`)).status;
  },
  [`GET ${storage}/bucket`]: async () =>
    (await call("GET", `${storage}/bucket?x=${CANARY}`)).status,
  [`PATCH ${storage}/bucket/rotate-key`]: async () =>
    (await call("PATCH", `${storage}/bucket/rotate-key`)).status,
  [`GET ${storage}/usage`]: async () => (await call("GET", `${storage}/usage`)).status,
  [`POST ${storage}/upload/init`]: async () => (await initialised()).status,
  [`POST ${storage}/upload/complete`]: async () => {
    const { uploadId, urls } = (await initialised()).body as unknown as {
      uploadId: string;
      urls: string[];
    };
    const part = await fetchWithCa(coordinator.caPem, urls[0]!, { method: "PUT", body: "abc" });
    const parts = [{ PartNumber: 1, ETag: part.headers.get("etag") }];
    return (await call("POST", `${storage}/upload/complete`, { key: object, uploadId, parts }))
      .status;
  },
  [`POST ${storage}/upload/abort`]: async () => {
    const { uploadId } = (await initialised()).body;
    return (await call("POST", `${storage}/upload/abort`, { key: object, uploadId })).status;
  },
  [`GET ${storage}/objects`]: async () =>
    (await call("GET", `${storage}/objects?prefix=${CANARY}/`)).status,
  [`GET ${storage}/sizes`]: async () =>
    (await call("GET", `${storage}/sizes?prefix=${CANARY}/`)).status,
  [`GET ${storage}/versions`]: async () => {
    await coordinator.s3.store.put(alice.bucketAlias, object, "abc", "text/plain");
    return (await call("GET", `${storage}/versions?key=${object}`)).status;
  },
  [`POST ${storage}/restore`]: async () => {
    const { versionId } = await coordinator.s3.store.put(
      ...([alice.bucketAlias, object, "abc", "text/plain"] as const),
    );
    return (await call("POST", `${storage}/restore`, { key: object, versionId })).status;
  },
  [`POST ${storage}/download`]: async () => {
    await coordinator.s3.store.put(alice.bucketAlias, object, "abc", "text/plain");
    return (await call("POST", `${storage}/download`, { key: object })).status;
  },
  [`DELETE ${storage}/objects`]: async () =>
    (await call("DELETE", `${storage}/objects?key=${object}`)).status,
  "GET /api/keys": async () => (await call("GET", "/api/keys")).status,
  "POST /api/keys": async () =>
    (
      await asPerson("POST", "/api/keys", {
        ...{ name: CANARY, projectId: alice.project, scopes: ["jobs:read"], expiresInDays: 1 },
      })
    ).status,
  "POST /api/projects": async () =>
    (await asPerson("POST", "/api/projects", { name: CANARY, team: CANARY, lead: CANARY })).status,
  "GET /api/projects/{id}/members": async () =>
    (await asPerson("GET", `/api/projects/${alice.project}/members`)).status,
  "POST /api/projects/{id}/members": async () =>
    (
      await asPerson("POST", `/api/projects/${alice.project}/members`, {
        username: "bob",
        role: "researcher",
      })
    ).status,
  "PUT /api/projects/{id}/models": async () =>
    (await asPerson("PUT", `/api/projects/${alice.project}/models`, { refusesNonFinite: true }))
      .status,
  "PUT /api/projects/{id}/exports": async () =>
    (await asPerson("PUT", `/api/projects/${alice.project}/exports`, { byApproval: true })).status,
  "POST /api/projects/{id}/handover": async () => {
    const carl = await coordinator.control("add-user", { username: "carl" });
    const project = `/api/projects/${alice.project}`;
    await asPerson("POST", `${project}/members`, { username: "carl", role: "researcher" });
    await coordinator.control("user-disable", { username: "carl" });
    return (await asPerson("POST", `${project}/handover`, { from: carl.userId, to: alice.userId }))
      .status;
  },
  "DELETE /api/projects/{id}/members/{user}": async () =>
    (await asPerson("DELETE", `/api/projects/${alice.project}/members/${bob.userId}`)).status,
  "GET /api/projects/{id}/service-accounts": async () =>
    (await asPerson("GET", `/api/projects/${alice.project}/service-accounts`)).status,
  // Keycloak is not there, which the outcome says.
  "POST /api/projects/{id}/service-accounts": async () => {
    const { publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    return (
      await asPerson("POST", `/api/projects/${alice.project}/service-accounts`, {
        ...{ name: CANARY, scopes: ["jobs:read"] },
        publicKey: { ...publicKey.export({ format: "jwk" }), kid: CANARY },
      })
    ).status;
  },
  "GET /api/people/{id}/sessions": async () =>
    (await asPerson("GET", `/api/people/${bob.userId}/sessions`)).status,
  // Over here all the same.
  "DELETE /api/people/{id}/sessions/{session}": async () => {
    const dana = await coordinator.control("add-user", { username: "dana" });
    await coordinator.signedIn(dana.userId);
    const path = `/api/people/${dana.userId}/sessions`;
    const { sessions } = (await asPerson("GET", path)).body as unknown as {
      sessions: { id: string }[];
    };
    return (await asPerson("DELETE", `${path}/${sessions[0]?.id}`)).status;
  },
  "PUT /api/me/ssh-keys": async () =>
    (await asPerson("PUT", "/api/me/ssh-keys", { keys: [] })).status,
  // The row stands before Keycloak, which is not there, is asked.
  "POST /api/people/{id}/acknowledge": async () => {
    await coordinator.askControl("restore-administrator", { username: "bob" });
    return (await asPerson("POST", `/api/people/${bob.userId}/acknowledge`)).status;
  },
  "GET /api/people/{id}/data": async () =>
    (await asPerson("GET", `/api/people/${alice.userId}/data`)).status,
  "GET /api/people": async () => (await asPerson("GET", "/api/people")).status,
  "GET /api/reviews/access": async () => (await asPerson("GET", "/api/reviews/access")).status,
  "POST /api/approvals": async () => (await requested()).status,
  "POST /api/approvals/{id}/approve": async () => (await answered("approve")).status,
  "POST /api/approvals/{id}/deny": async () => (await answered("deny")).status,
  "POST /api/approvals/{id}/withdraw": async () =>
    (await asPerson("POST", `/api/approvals/${(await requested()).body["id"]}/withdraw`)).status,
  "POST /auth/sign-out": async () => {
    const leaving = await coordinator.signedIn(bob.userId);
    return (await call("POST", "/auth/sign-out", undefined, undefined, leaving)).status;
  },
  // Keycloak is not there, and the sessions here are over all the same.
  "POST /auth/sign-out-everywhere": async () => {
    const leaving = await coordinator.signedIn(bob.userId);
    return (await call("POST", "/auth/sign-out-everywhere", undefined, undefined, leaving)).status;
  },
  "POST /api/nodes/{id}/drain": async () =>
    (await asPerson("POST", "/api/nodes/node-of-logs/drain")).status,
  "POST /api/nodes/{id}/undrain": async () =>
    (await asPerson("POST", "/api/nodes/node-of-logs/undrain")).status,
  "POST /api/nodes/invitations": async () =>
    (await asPerson("POST", "/api/nodes/invitations", { node: "node-b" })).status,
  "POST /api/nodes/join": async () => {
    const { token } = await coordinator.control("join-token", { node: "node-a", ttlS: 60 });
    return (
      await call("POST", "/api/nodes/join", {
        token,
        csr: (await makeSigningRequest(CANARY)).csrPem,
      })
    ).status;
  },
  "GET /api/audit/events": async () =>
    (await call("GET", "/api/audit/events?type=key.list")).status,
  "GET /api/audit/questions/{question}": async () =>
    (await call("GET", "/api/audit/questions/refused?from=7d&limit=1")).status,
  "GET /api/audit/questions/{question}/proofs": async () =>
    (await call("GET", "/api/audit/questions/refused/proofs?from=7d&limit=1")).status,
  "GET /api/audit/proofs": async () => (await call("GET", "/api/audit/proofs?limit=1")).status,
  "GET /api/audit/events/{index}": async () => {
    // Its own entries are indexed a moment after they are signed.
    for (let tries = 0; tries < 2_000; tries++) {
      const { events } = (await call("GET", "/api/audit/events?limit=1")).body as unknown as {
        events: { index: number }[];
      };
      if (events[0] !== undefined)
        return (await call("GET", `/api/audit/events/${events[0].index}`)).status;
      await sleep(50);
    }
    return 0;
  },
  "GET /token": async () => {
    const login = await coordinator.control("registry-login", { repository: "resontech/fl-cpu" });
    const basic = `Basic ${Buffer.from(`${login.username}:${login.password}`).toString("base64")}`;
    const query = new URLSearchParams({
      service: "registry",
      scope: "repository:resontech/fl-cpu:pull",
      account: CANARY,
    });
    return (await call("GET", `/token?${query.toString()}`, undefined, basic)).status;
  },
  // The last one: the key is void afterwards.
  "DELETE /api/keys/{id}": async () => {
    const keys = (await call("GET", "/api/keys")).body as unknown as {
      id: string;
      current: boolean;
    }[];
    return (await call("DELETE", `/api/keys/${keys.find(({ current }) => current)?.id}`)).status;
  },
};
const ENDS: Record<string, number> = {
  ...{ "POST /api/schedules": 201, "POST /api/pools": 201, "POST /api/calendar": 201 },
  ...{ "POST /api/arrays": 201, "POST /api/tasks": 201, "POST /api/tasks/{id}/resubmit": 201 },
  "POST /api/tasks/{id}/variants": 201,
  ...{ "POST /api/keys": 201, "POST /api/projects": 201, "POST /api/inference/jobs": 201 },
  "POST /api/hub/models": 201,
  ...{
    "POST /api/approvals": 201,
    "POST /api/nodes/invitations": 201,
    "POST /auth/sign-out-everywhere": 503,
  },
  "POST /api/projects/{id}/service-accounts": 503,
  "DELETE /api/people/{id}/sessions/{session}": 503,
};
/** What Keycloak sends there, must have made before, or a person signs at it, is driven with a real one: test/identity/, test/approvals/. */
const BY_KEYCLOAK = [
  ...["GET /auth/callback", "POST /auth/back-channel-logout", "POST /api/approvals/{id}/sign"],
  "DELETE /api/projects/{id}/service-accounts/{account}",
  "POST /api/projects/{id}/service-accounts/{account}/adopt",
];

/** Routes that say `event` and are driven by nobody, or are driven and say none. */
function undriven(declared: readonly { name: string; audit: Declared }[]): string[] {
  const events = declared.filter(({ audit }) => "event" in audit).map(({ name }) => name);
  return [
    ...events.filter((name) => !(name in DRIVES) && !BY_KEYCLOAK.includes(name)),
    ...Object.keys(DRIVES).filter((name) => !events.includes(name)),
  ];
}

t.test(
  "every route declares an event, and is driven here, or says why it leaves none",
  async (t) => {
    t.ok(routes.length >= 20);
    for (const { name, audit } of routes)
      t.ok(
        audit !== undefined && ("event" in audit || audit.none.length > 0),
        `${name}: ${JSON.stringify(audit)}`,
      );
    t.same(undriven(routes), []);
    t.same(undriven([...routes, { name: "POST /api/dummy", audit: { event: "key.list" } }]), [
      "POST /api/dummy",
    ]);
  },
);

/** Entries of an answer, but for a job's objects: whose they are, an export without opened values does not say. */
const countOf = (events: readonly { kind: string }[], id: string): number =>
  events.filter(({ kind }) => id !== "job" || kind !== "object").length;

/** Every question, asked of the API by a person and of the shell by a key, about what came before a moment. */
async function answeredQuestions() {
  const before = new Date().toISOString();
  // A look is itself an entry: once one of after that moment is found, all of before are.
  const officer = await coordinator.control("add-user", { username: "shell" });
  coordinator.giveRoles(officer.userId, ["security-officer"]);
  const looking = await coordinator.signedIn(officer.userId, { roles: ["security-officer"] });
  const look = (path: string) => call("GET", path, undefined, undefined, looking);
  type Events = { events: { t_log: string; kind: string; object: string; type: string }[] };
  const search = async (query: string) =>
    (await look(`/api/audit/events?${query}`)).body as unknown as Events;
  for (let newest = ""; newest <= before; await sleep(20))
    newest = (await search("limit=1")).events[0]?.t_log ?? "";
  const [job] = (await search("type=job.accepted&limit=1")).events;
  const [deployment] = (await search("type=key.predict.rotate&limit=1")).events;
  const about = { person: bob.userId, job: job!.object, deployment: deployment!.object, before };
  const settings = {
    ...{ baseUrl: new URL(coordinator.url), credential: async () => officer.platformKey },
    ...{ ca: coordinator.caPem, project: null },
  };
  const byApi: Record<string, number> = {};
  const byShell: Record<string, number> = {};
  for (const id of QUESTION_IDS) {
    const { needs, takes }: { needs: readonly string[]; takes: readonly string[] } = QUESTIONS[id];
    const values = Object.fromEntries(
      Object.entries({ person: about.person, job: about.job, deployment: about.deployment }).filter(
        ([name]) => needs.includes(name) || (id !== "refused" && takes.includes(name)),
      ),
    );
    const query = new URLSearchParams({ ...values, to: before, limit: "1000" }).toString();
    const { status, body } = await look(`/api/audit/questions/${id}?${query}`);
    if (status !== 200) throw new Error(`${id}: ${JSON.stringify(body)}`);
    byApi[id] = countOf((body as unknown as Events).events, id);
    const shown = await askQuestion(settings, id, {
      ...{ ...values, to: before, oldest: true, limit: 100_000 },
    });
    byShell[id] = countOf(shown.events, id);
  }
  return { about, byApi, byShell, held: await heldAbout(bob.userId, looking) };
}

/** The lines of all that is held about a person. */
async function heldAbout(userId: string, session: Record<string, string>) {
  const reply = await fetchWithCa(
    coordinator.caPem,
    `${coordinator.url}/api/people/${userId}/data`,
    { headers: session },
  );
  const text = await reply.text();
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as PersonalDataLine);
}

t.test("the leaf of each is found, and none holds what a caller wrote", async (t) => {
  for (const name of Object.keys(DRIVES)) t.equal(await DRIVES[name]!(), ENDS[name] ?? 200, name);
  // Whatever else a caller may write: places that are refused, and all that declare no event.
  for (const { name } of routes) {
    const [method = "", path = ""] = name.split(" ");
    const url = `${path.replace(/\{[^}]+\}/g, CANARY)}?job_id=${CANARY}&service=${CANARY}&limit=${CANARY}`;
    const body =
      method === "GET" || method === "DELETE"
        ? undefined
        : { [CANARY]: CANARY, key: CANARY, name: CANARY, token: CANARY, csr: CANARY };
    await call(method, url, body);
    await call(method, url, body, `Bearer rsk_${CANARY}`);
    await call(method, url, body, `Basic ${Buffer.from(`${CANARY}:${CANARY}`).toString("base64")}`);
  }
  const answered = await answeredQuestions();
  t.equal(await coordinator.stop("SIGTERM"), 0);
  await coordinator.auditd.stop();
  const archive = join(t.testdir(), "audit.tar");
  await exportLog({ logDir: coordinator.auditd.logDir, file: archive, witnessedFor: "all" });
  const counted = countAnswers(archive, ANSWERS, answered.about);
  for (const id of QUESTION_IDS) {
    t.ok(counted[id]! > 0, `${id} is asked of entries`);
    t.equal(answered.byApi[id], counted[id], `${id}: the API's answer, and a count of the export`);
    t.equal(
      answered.byShell[id],
      counted[id],
      `${id}: the shell's answer, and a count of the export`,
    );
  }
  const { held, about } = answered;
  t.match(held[0], { part: "about", person: bob.userId, entries: "all" });
  t.match(held.at(-1), { part: "end", lines: held.length - 1 });
  const parts = Map.groupBy(held, ({ part }) => part);
  t.match(parts.get("user"), [{ username: "bob" }]);
  t.equal(parts.get("platform-key")?.length, 1);
  const known = (parts.get("entry") ?? []) as Extract<PersonalDataLine, { part: "entry" }>[];
  t.equal(
    known.filter(({ entry }) => entry.t_log < about.before).length,
    counted["person"],
    "entries about the person, and a count of the export",
  );
  const leaves = await readLeaves(coordinator.auditd.logDir);
  for (const { name, audit } of routes) {
    if ("none" in audit || BY_KEYCLOAK.includes(name)) continue;
    const action = name.replace("{*}", "*").replace(/\{([^}]+)\}/g, ":$1");
    const found = leaves.filter(
      (leaf) =>
        leaf.type === audit.event && (audit.loggedBy !== undefined || leaf.action === action),
    );
    t.ok(found.length > 0, `${name} leaves ${audit.event}`);
    const requested = found.find(({ phase }) => phase === "requested");
    if (requested !== undefined)
      t.equal(
        leaves.filter(
          ({ op, phase }) =>
            op === requested.op && ["completed", "failed", "denied"].includes(phase),
        ).length,
        1,
        `${name} has one outcome`,
      );
  }
  const text = JSON.stringify(leaves);
  t.ok(leaves.length > 40, `${leaves.length} leaves`);
  t.notMatch(text, /canary7f3a/i);
  t.notOk(
    text.includes(Buffer.from(CANARY).toString("base64").slice(0, 12)),
    "nor in another spelling",
  );
  t.notOk(text.includes(Buffer.from(CANARY).toString("hex")));
});
