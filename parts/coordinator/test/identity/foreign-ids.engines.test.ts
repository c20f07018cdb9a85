/**
 * Every id of another project, in every place of every route where an id may stand, asked by people who are somebody elsewhere. The requests are
 * made from the route table and its schemas, so a new route is tried as soon as it is there. Each is answered as if there were no such id.
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import t from "tap";
import { drawKey } from "../../src/identity/draw-key.ts";
import { insertKey } from "../../src/identity/key-store.ts";
import { findBucketOfProject } from "../../src/identity/bucket-store.ts";
import { findDefaultProject } from "../../src/identity/project-store.ts";
import { DEPLOYMENT, putDeployment } from "../helper/put-deployment.ts";
import { sampleOf, type Schema } from "../helper/sample-of-schema.ts";
import { SignInHouse, type SignedInPerson } from "../helper/sign-in-house.ts";

t.setTimeout(600_000);
const house = await SignInHouse.open();
t.teardown(() => house[Symbol.asyncDispose]());
const { api } = house;

type Owned = { userId: string; ask: SignedInPerson; ids: Record<string, string> };
type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
/** A place of a route where an id stands. @property at path of a body's member */
type Place = { in: "path" | "query" | "body"; at: readonly string[] };
type Route = {
  name: string;
  method: Method;
  url: string;
  body: Schema | null;
  places: Place[];
  /** Of the query, without which no answer is about an id. */
  needed: (readonly [name: string, value: string])[];
};

/** Somebody with one of everything that a project has. */
async function somebody(username: string): Promise<Owned> {
  const account = await house.addAccount(username);
  const userId = await house.firstSignIn(account);
  const project = findDefaultProject(api.database.read, userId)!;
  const bucket = findBucketOfProject(api.database.read, project)!.name;
  const ask = await house.signedIn(userId);
  const made = async (url: string, body: object) => {
    const { status, body: reply } = await ask("POST", url, body);
    if (status !== 201) throw new Error(JSON.stringify(reply));
    return String(reply["id"]);
  };
  const { row } = drawKey("dev");
  await api.commit.run((db) =>
    insertKey(db, {
      ...{ ...row, name: "key", userId, projectId: project, scopes: ["jobs:read"] },
      ...{ createdAt: api.clock.now, expiresAt: api.clock.now + 1e9 },
    }),
  );
  const publicKey = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey;
  const account_ = await made(`/api/projects/${project}/service-accounts`, {
    ...{ name: "nightly", scopes: ["jobs:read"], publicKey: publicKey.export({ format: "jwk" }) },
  });
  const approval = await made("/api/approvals", {
    what: { kind: "quota", projectId: project, bytes: 2 ** 41 },
  });
  return {
    ...{ userId, ask },
    ids: {
      ...{ project, bucket, key: row.id, account: account_, approval, person: userId },
      session: `sid-${userId}`,
    },
  };
}

const owner = await somebody("owner");
const stranger = await somebody("stranger");
api.kernel.putRunning({
  ...{ projectId: owner.ids["project"]!, userId: owner.userId, bucket: owner.ids["bucket"]! },
});
await putDeployment(api, {
  ...{ projectId: owner.ids["project"]!, userId: owner.userId, bucket: owner.ids["bucket"]! },
});
const FOREIGN = [...Object.values(owner.ids), "state-RUNNING", DEPLOYMENT];
/** Routes whose ids are of no project, and what tries them instead. */
const ELSEWHERE: Record<string, string> = {
  // Models of the hub have names that people give, the same for everybody.
  ...Object.fromEntries(
    [
      "GET /api/hub/models/:organisation/:model/:revision",
      "DELETE /api/hub/models/:organisation/:model/:revision",
      "GET /api/models/:organisation/:model",
      "GET /api/models/:organisation/:model/revision/:revision",
      "GET /api/models/:organisation/:model/tree/:revision",
      "HEAD /:organisation/:model/resolve/:revision/*",
      "GET /:organisation/:model/resolve/:revision/*",
    ].map((name) => [name, "hub/hub.engines.test.ts"]),
  ),
  // A task's body has several forms, and no sample fits one of them.
  "GET /api/arrays/:id": "authorization/doors.test.ts",
  "POST /api/arrays/:id/cancel": "authorization/doors.test.ts",
  "POST /api/schedules": "http/schedules.test.ts",
  "PUT /api/schedules/:id": "authorization/doors.test.ts",
  "DELETE /api/schedules/:id": "authorization/doors.test.ts",
  "GET /api/schedules/:id/runs": "authorization/doors.test.ts",
  "GET /api/audit/events/:index": "audit/audit-search.engines.test.ts",
  "GET /api/audit/questions/:question": "audit/audit-search.engines.test.ts",
  "GET /api/audit/questions/:question/proofs": "audit/audit-search.engines.test.ts",
  // The key is a name in the caller's own bucket, whatever it looks like.
  "POST /api/users/storage/upload/init": "identity/projects.engines.test.ts",
};
const OWN = Object.values(stranger.ids);
/** Of the same form, and nobody's. */
const ABSENT = new Map(
  FOREIGN.map((id) => [id, id.replace(/[^_-]{4}$/, () => randomBytes(2).toString("hex"))]),
);

/** People are named by those who work with them: adding a user to one's own project is no attack. */
const isId = (name: string) =>
  /(?:^|_)(?:id|project|job|key|bucket)$|Id$/i.test(name) && !isOfKey(name);
const isOfPerson = (name: string) => /^(?:userId|client_id)$/.test(name);
/** A version is looked up under its key, in the bucket whose key it is. */
const isOfKey = (name: string) => name === "versionId";

function placesIn(schema: Schema, at: readonly string[] = []): Place[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, inner]) => [
    ...(inner.type === "string" && isId(name) && !isOfPerson(name) && inner.enum === undefined
      ? [{ in: "body" as const, at: [...at, name] }]
      : []),
    ...placesIn(inner, [...at, name]),
  ]);
}

/** Each form that a body may have. */
function formsOf(schema: Schema): Schema[] {
  const branching = Object.entries(schema.properties ?? {}).find(([, one]) => one.anyOf);
  if (branching === undefined) return [schema];
  const [name, { anyOf = [] }] = branching;
  return anyOf.map((form) => ({
    ...schema,
    properties: { ...schema.properties, [name]: form },
  }));
}

type Described = {
  parameters?: { in: string; name: string; required?: boolean; schema?: Schema }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
};
const described = (api.app.swagger() as { paths: Record<string, Record<string, Described>> }).paths;
const routes = api.app.declaredRoutes.flatMap(({ name, access }): Route[] => {
  if ("public" in access || "credential" in access) return [];
  const [method, url] = name.split(" ") as [Method, string];
  const operation = described[url.replaceAll(/:(\w+)/g, "{$1}")]?.[method.toLowerCase()] ?? {};
  const schema = operation.requestBody?.content["application/json"]?.schema ?? null;
  const fixed = (operation.parameters ?? []).flatMap((parameter): Place[] =>
    parameter.in === "path" || (parameter.in === "query" && isId(parameter.name))
      ? [{ in: parameter.in, at: [parameter.name] }]
      : [],
  );
  const forms = schema === null ? [null] : formsOf(schema);
  const needed = (operation.parameters ?? []).flatMap(({ in: where, name, required, schema }) =>
    where === "query" && required === true && !isId(name)
      ? [[name, String(sampleOf(schema!))] as const]
      : [],
  );
  return forms.map((body) => ({
    ...{ name, method, url, body, needed },
    places: [...fixed, ...(body === null ? [] : placesIn(body))],
  }));
});

/** A request with an id in each place. */
async function send(
  ask: SignedInPerson,
  { method, url, body, places, needed }: Route,
  ids: string[],
) {
  let path = url;
  const query = new URLSearchParams(needed.map(([name, value]) => [name, value]));
  const payload = body === null ? undefined : (sampleOf(body) as Record<string, unknown>);
  for (const [index, place] of places.entries()) {
    const id = ids[index]!;
    const last = place.at.at(-1)!;
    if (place.in === "path") path = path.replace(`:${last}`, encodeURIComponent(id));
    else if (place.in === "query") query.set(last, id);
    else {
      const into = place.at
        .slice(0, -1)
        .reduce((part, name) => part[name] as Record<string, unknown>, payload!);
      into[last] = id;
    }
  }
  return await ask(method, query.size === 0 ? path : `${path}?${query.toString()}`, payload);
}

/** Every way to fill the places in which at least one id is the owner's. */
function fillings(count: number): string[][] {
  const all = Array.from({ length: count }).reduce<string[][]>(
    (before) => before.flatMap((ids) => [...FOREIGN, ...OWN].map((id) => [...ids, id])),
    [[]],
  );
  return all.filter((ids) => ids.some((id) => FOREIGN.includes(id)));
}

const rowsOfOwner = () =>
  JSON.stringify(
    [
      ["project_members", "project_id", "project"],
      ["platform_keys", "user_id", "person"],
      ["service_accounts", "project_id", "project"],
      ["approvals", "id", "approval"],
      ["sessions", "user_id", "person"],
      ["buckets", "name", "bucket"],
      ["jobs", "project_id", "project"],
    ].map(([table, column, id]) =>
      api.database.read
        .prepare<[string], object>(`SELECT * FROM ${table} WHERE ${column} = ?`)
        .all(owner.ids[id!]!),
    ),
  );

/** Beside refusals, which the caller does not see. */
const recordsSince = (count: number) =>
  api.audit.drafts
    .slice(count)
    .filter(({ type }) => type !== "auth.refused")
    .map(({ type, detail }) => [type, detail]);

t.test("an id of another project is answered as one that is nobody's", async (t) => {
  const tried = routes.filter(({ name, places }) => places.length > 0 && !(name in ELSEWHERE));
  t.ok(tried.length >= 25, `${tried.length} routes and forms of bodies`);
  const before = rowsOfOwner();
  const firstOf = new Map<string, number>();
  for (const route of tried) {
    const where = `${route.name} ${route.places.map(({ at }) => at.join(".")).join(" ")}`;
    const statuses = new Set<number>();
    const earlier = firstOf.get(route.name) ?? api.audit.drafts.length;
    firstOf.set(route.name, earlier);
    for (const ids of fillings(route.places.length)) {
      const leaves = api.audit.drafts.length;
      const foreign = await send(stranger.ask, route, ids);
      const left = recordsSince(leaves);
      const none = api.audit.drafts.length;
      const absent = await send(
        stranger.ask,
        route,
        ids.map((id) => ABSENT.get(id) ?? id),
      );
      statuses.add(foreign.status);
      if (foreign.status === 429) throw new Error(`${where}: the limit of a minute is reached`);
      if (JSON.stringify(foreign) !== JSON.stringify(absent) || foreign.status < 400)
        t.same(foreign, absent, `${where}: ${ids.join(" ")}`);
      const without = recordsSince(none);
      if (JSON.stringify(left) !== JSON.stringify(without)) t.same(left, without, where);
    }
    await setImmediate();
    // The first of a kind is, with the first form of a body; the rest of its minute is counted. A key of an object is a name in the caller's own bucket.
    if (!route.url.startsWith("/api/users/storage/"))
      t.ok(
        api.audit.drafts
          .slice(earlier)
          .some(({ type, action }) => type === "auth.refused" && action === route.name),
        `${where} is on record`,
      );
    t.ok(
      [...statuses].some((status) => status === 404 || status === 403),
      where,
    );
    t.notOk(
      [...statuses].some((status) => status < 400 || status >= 500),
      where,
    );
  }
  t.equal(rowsOfOwner(), before, "nothing of the owner's has changed");
});

const isHiddenProject = (detail: object | undefined) =>
  JSON.stringify(detail ?? {}).includes('"kind":"project"');

t.test("no request is about a project that one is not in, whatever it asks for", async (t) => {
  for (const { name } of api.app.declaredRoutes) {
    const route = routes.find((one) => one.name === name);
    if (route === undefined) continue;
    const asked = async (project: string) =>
      await stranger.ask(route.method, route.url.replaceAll(/:\w+/g, "x"), undefined, {
        "x-rt-project": project,
      });
    const foreign = await asked(owner.ids["project"]!);
    // An answer to HEAD has no words.
    const body = name.startsWith("HEAD") ? {} : { message: "there is no such project" };
    t.match(foreign, { status: 404, body }, name);
    await setImmediate();
    const refused = api.audit.drafts.filter(({ detail }) => isHiddenProject(detail));
    t.ok(
      refused.some(({ action }) => action === name),
      `${name} is on record`,
    );
    t.same(foreign, await asked(ABSENT.get(owner.ids["project"]!)!), name);
    await setImmediate();
    t.equal(
      api.audit.drafts.filter(({ detail }) => isHiddenProject(detail)).length,
      refused.length,
      `${name}: what is nobody's is no refusal`,
    );
  }
});

t.test("the same requests by whom the ids belong to are answered", async (t) => {
  const good = new Set<string>();
  for (const route of routes.filter(({ method, places }) => method === "GET" && places.length > 0))
    for (const id of FOREIGN) {
      const { status } = await send(
        owner.ask,
        route,
        route.places.map(() => id),
      );
      if (status === 200) good.add(route.name);
    }
  t.ok(good.size >= 9, [...good].join(", "));
});
