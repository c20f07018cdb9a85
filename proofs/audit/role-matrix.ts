/**
 * Each role × each route and list of a running coordinator against the policies, the operator's on root's socket: who may ask may, who may not is refused,
 * nobody reaches a route of the operator by the front door, and a list holds exactly the rows that the policies let through. Sessions are rows in its database, as sign-ins leave them.
 *
 * `npm run prove -- role-matrix`
 */
import {
  OPERATOR_ROUTES,
  type OperatorAnswer,
  type OperatorVerb,
} from "@resontech/contracts/operator-routes";
import Database from "better-sqlite3";
import { KEY_SCOPES } from "@resontech/contracts/http-identity";
import { decide } from "@resontech/coordinator/decide";
import type { Action } from "@resontech/coordinator/actions";
import type { Caller, RoleGrant } from "@resontech/coordinator/caller";
import { isRefusalCode } from "@resontech/coordinator/refusals";
import { APPLIANCE_ROLES, type ApplianceRole, PROJECT_ROLES } from "@resontech/coordinator/roles";
import { givenBeside } from "@resontech/coordinator/duties";
import { operatorRoutes } from "@resontech/coordinator/testing/operator-routes";
import { isInFilter } from "@resontech/coordinator/row-filter";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodBody, goodFiles, upload } from "@resontech/coordinator/testing/workspace";
import { declaredRoutes } from "./role-matrix/declared-routes.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

type Added = OperatorAnswer<"add-user">;
type Person = { name: string; headers: Record<string, string>; caller: Caller };

/** Roles of a project that a person can be a member by; a service account is no person. */
const MEMBERS = PROJECT_ROLES.filter((role) => role !== "service-account");

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using coordinator = await RunningCoordinator.create({ identity: true });
  const wrong: string[] = [];
  let cells = 0;
  const check = (isRight: boolean, what: string): void => {
    cells += 1;
    if (!isRight) wrong.push(what);
  };
  const add = async (username: string) => await coordinator.control("add-user", { username });
  const [alice, bob] = [await add("alice"), await add("bob")];
  const jobs: { id: string; userId: string; projectId: string }[] = [];
  for (const owner of [alice, bob]) {
    await upload(coordinator.s3, owner.bucketAlias, "digits", goodFiles());
    const made = await coordinator.request(
      "POST",
      "/api/tasks",
      owner.platformKey,
      goodBody("digits"),
    );
    if (made.status !== 201 && made.status !== 200)
      throw new Error(`no job: ${JSON.stringify(made.body)}`);
    jobs.push({ id: String(made.body["id"]), userId: owner.userId, projectId: owner.project });
  }

  const people = await everybody(coordinator, alice, add);
  progress(`${people.length} callers, one for each role, and keys with and without scopes`);
  const routes = (await declaredRoutes()).filter(({ access }) => "action" in access);
  for (const person of people) {
    for (const { name, access } of routes) {
      if (!("action" in access) || "credential" in access) continue;
      const asked = [access.action, ...(ASKED_AS_WELL[name] ?? [])];
      const verdicts = asked.map((action) => decide(person.caller, action, "rows"));
      const verdict = verdicts.find(({ effect }) => effect === "deny") ?? verdicts[0]!;
      const { status, code } = await ask(coordinator, person, name);
      const isRefused =
        status === 401 || (status === 403 && (isRefusalCode(code) || code === "role_required"));
      check(
        verdict.effect === "deny"
          ? status === verdict.status && (code === verdict.code || hasNoBody(name))
          : !isRefused || isAskedFurther(name),
        `${person.name}: ${name} is ${status} ${code}, the policies ${verdict.effect}`,
      );
    }
    await checkLists(coordinator, person, jobs, check);
    progress(`${person.name}: ${cells} cells so far, ${wrong.length} wrong`);
  }
  const own = new Map((await operatorRoutes()).map(({ name, access }) => [name, access]));
  const verbs = Object.keys(OPERATOR_ROUTES) as OperatorVerb[];
  for (const verb of verbs) {
    const { method, path } = OPERATOR_ROUTES[verb];
    const access = own.get(`${method} ${path}`);
    if (access === undefined || !("action" in access)) throw new Error(`${verb} has no action`);
    const verdict = decide({ kind: "operator", person: null }, access.action, "every");
    const { status } = await coordinator.askControl(verb, HARMLESS);
    check((verdict.effect === "allow") === (status !== 403), `operator: ${verb} is ${status}`);
    if (!path.startsWith("/api/operator/")) continue;
    for (const person of people) {
      const { status: toOthers } = await ask(coordinator, person, `${method} ${path}`);
      check(toOthers === 404, `${person.name}: ${verb} on the front door is ${toOthers}`);
    }
  }
  return {
    ok: wrong.length === 0 && cells > 400,
    figures: {
      ...{
        callers: people.length,
        routes: routes.length,
        verbs: verbs.length,
      },
      ...{ cells, wrong: wrong.length, first_wrong: wrong.slice(0, 5) },
    },
  };
}

/** One person for each role, a stranger, and keys. Who has a role in a project has it in alice's. */
async function everybody(
  coordinator: RunningCoordinator,
  alice: Added,
  add: (username: string) => Promise<Added>,
): Promise<Person[]> {
  const people: Person[] = [];
  const session = async (
    name: string,
    roles: readonly ApplianceRole[],
    member: (typeof MEMBERS)[number] | null,
  ) => {
    const user = await add(`p-${name}`);
    if (member !== null) join(coordinator, user.userId, alice.project, member);
    const memberships = givenBeside(roles, [
      { role: "project-lead" as const, projectId: user.project },
      ...(member === null ? [] : [{ role: member, projectId: alice.project }]),
    ]);
    const grants: RoleGrant[] = [
      ...roles.map((role) => ({ role, projectId: null })),
      ...memberships,
    ];
    people.push({
      name,
      headers: await coordinator.signedIn(user.userId, { roles }),
      caller: {
        ...{ kind: "session", sessionId: "of the proof", userId: user.userId },
        holds: grants.map(({ role }) => role),
        ...{
          projectId: memberships[0]?.projectId ?? "",
          grants,
          signIn: { acr: "2", at: Date.now() },
        },
      },
    });
  };
  for (const role of APPLIANCE_ROLES) await session(role, [role], null);
  for (const role of MEMBERS) await session(role, [], role);
  await session("nobody", [], null);
  await session("auditor-and-admin", ["compliance-auditor", "platform-admin"], null);
  for (const scopes of [[...KEY_SCOPES], []]) {
    const user = await add(`k-${scopes.length}`);
    if (scopes.length === 0) withoutScopes(coordinator, user.userId);
    people.push({
      name: `key with ${scopes.length} scopes`,
      headers: { authorization: `Bearer ${user.platformKey}` },
      caller: {
        ...{ kind: "key", keyId: "of the proof", userId: user.userId, projectId: user.project },
        ...{ role: "project-lead", scopes, holds: ["project-lead"] },
      },
    });
  }
  return people;
}

/** What a route asks of the policies for its every caller, beside its own action. */
const ASKED_AS_WELL: Readonly<Record<string, readonly Action[]>> = {
  "POST /api/jobs/:id/download": ["job.read"],
  "POST /api/tasks/:id/resubmit": ["job.read", "job.inputs.read"],
  "POST /api/tasks/:id/variants": ["job.read", "job.inputs.read"],
};

/** A refusal's code stands in its body. */
const hasNoBody = (name: string): boolean => name.startsWith("HEAD ");

/** Routes that decide by what the body asks for: nobody can be let through without one. */
function isAskedFurther(name: string): boolean {
  return name === "POST /api/approvals";
}

async function ask(
  coordinator: RunningCoordinator,
  { headers }: Person,
  name: string,
): Promise<{ status: number; code: string; body: unknown }> {
  const [method = "GET", path = "/"] = name.split(" ");
  const url = coordinator.url + path.replaceAll(/:[a-zA-Z]+/g, "not-there");
  const isBody = method === "POST" || method === "PUT" || method === "PATCH";
  const reply = await fetchWithCa(coordinator.caPem, url, {
    method,
    headers: { ...headers, ...(isBody ? { "content-type": "application/json" } : {}) },
    ...(isBody ? { body: "{}" } : {}),
  });
  const body: unknown = await reply.json().catch(() => null);
  const code = typeof body === "object" && body !== null && "code" in body ? String(body.code) : "";
  return { status: reply.status, code, body };
}

/** Jobs in the list are those that may be read one by one, and both are those of the policies. */
async function checkLists(
  coordinator: RunningCoordinator,
  person: Person,
  jobs: readonly { id: string; userId: string; projectId: string }[],
  check: (isRight: boolean, what: string) => void,
): Promise<void> {
  const reach = (action: Action) => {
    const verdict = decide(person.caller, action, "rows");
    return verdict.effect === "allow" ? verdict.rows : null;
  };
  const listed = await ask(coordinator, person, "GET /api/customer/dashboard/jobs");
  const rows = reach("job.list");
  if (rows !== null) {
    const ids = (listed.body as { jobId: string }[]).map(({ jobId }) => jobId).sort();
    const want = jobs.filter((job) => isInFilter(rows, job)).map(({ id }) => id);
    check(ids.join() === want.sort().join(), `${person.name}: the list of jobs is ${ids.join()}`);
  }
  const one = reach("job.read");
  for (const job of jobs) {
    const { status } = await ask(coordinator, person, `GET /api/tasks/${job.id}`);
    const may = one !== null && isInFilter(one, job);
    check((status === 200) === may, `${person.name}: job of ${job.userId} is ${status}`);
  }
}

function join(
  coordinator: RunningCoordinator,
  userId: string,
  projectId: string,
  role: string,
): void {
  write(coordinator, (db) =>
    db
      .prepare(
        "INSERT INTO project_members (project_id, user_id, role, created_at) VALUES (?, ?, ?, ?)",
      )
      .run(projectId, userId, role, Date.now()),
  );
}

function withoutScopes(coordinator: RunningCoordinator, userId: string): void {
  write(coordinator, (db) =>
    db.prepare("UPDATE platform_keys SET scopes = '[]' WHERE user_id = ?").run(userId),
  );
}

function write(
  { config }: RunningCoordinator,
  change: (db: InstanceType<typeof Database>) => void,
): void {
  const db = new Database(config.databaseFile, { timeout: 5_000 });
  try {
    change(db);
  } finally {
    db.close();
  }
}

/** Fields of requests that change nothing: they name nobody. */
const HARMLESS = {
  ...{ username: "nobody", key: "k_0000", job: "job-0000", node: "not-there", id: "not-there" },
  ...{ bytes: 1, days: 1, forS: 0, ttlS: 1, living: true, limit: 1, reason: "the proof" },
  ...{ repository: "resontech/none", allowed: false, approval: "a_0000", name: "none" },
  ...{ project: "p_0000", group: "none/none" },
};
