/** The table of the API's routes says what the routes say, and the OpenAPI document has each. */
import { readFileSync } from "node:fs";
import t from "tap";
import {
  API_ROUTES_FILE,
  apiRoutesText,
  isListed,
  pathOf,
  readContracts,
} from "../../build/api-routes.ts";
import type { DeclaredRoute } from "../../src/http/route-config.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const noEngine = { endpoint: "", region: "", volumePath: t.testdir() } as unknown as S3Engine;
const api = await makeTestApp(t.testdir(), noEngine);
t.teardown(() => api.close());
const contracts = await readContracts();
const routes = api.app.declaredRoutes;

function routeOf(name: string): DeclaredRoute {
  const route = routes.find((one) => one.name === name);
  if (route === undefined) throw new Error(`there is no ${name}`);
  return route;
}

t.test("the table in contracts is what the routes make it", async (t) => {
  t.equal(
    apiRoutesText(routes, contracts),
    readFileSync(API_ROUTES_FILE, "utf8"),
    "if not: node parts/coordinator/build/write-api-routes.ts",
  );
});

t.test("each route of the table stands in the OpenAPI document under the same path", async (t) => {
  const reply = await api.app.inject({ url: "/api/openapi.json" });
  const { paths } = reply.json<{ paths: Record<string, Record<string, unknown>> }>();
  const listed = routes.filter(isListed);
  t.ok(listed.length > 90, `${listed.length} routes`);
  for (const route of listed) {
    const method = route.name.slice(0, route.name.indexOf(" ")).toLowerCase();
    t.ok(paths[pathOf(route)]?.[method], route.name);
  }
});

t.test("the document asks for no field that the appliance fills in", async (t) => {
  type Schema = { required?: string[]; properties?: Record<string, { default?: unknown }> };
  type Operation = {
    parameters?: { name: string; in: string; required?: boolean; schema: { default?: unknown } }[];
    requestBody?: { content: Record<string, { schema: Schema }> };
  };
  const reply = await api.app.inject({ url: "/api/openapi.json" });
  const { paths } = reply.json<{ paths: Record<string, Record<string, Operation>> }>();
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const parameters = operations.flatMap((operation) => operation.parameters ?? []);
  const filled = parameters.filter(({ schema }) => "default" in schema);
  t.ok(filled.length > 5, "some have defaults");
  t.same(
    filled.filter(({ required }) => required === true).map(({ name }) => name),
    [],
  );
  t.ok(
    parameters.some((one) => one.in === "query" && one.required === true),
    "others are needed still",
  );
  const bodies = operations.flatMap(({ requestBody }) =>
    Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
  );
  t.same(
    bodies.flatMap(({ required = [], properties = {} }) =>
      required.filter((name) => "default" in (properties[name] ?? {})),
    ),
    [],
  );
});

t.test("another path, answer, body or query of a route is another table", async (t) => {
  const text = (route: DeclaredRoute) => apiRoutesText([route], contracts);
  const list = routeOf("GET /api/jobs");
  const handover = routeOf("POST /api/projects/:id/handover");
  t.match(
    text(list),
    /"\/api\/jobs": \{ asked: \{ query\?: Filled<jobs\.JobListQuery, "limit"> \}/,
  );
  t.match(text({ ...list, name: "GET /api/work" }), /"\/api\/work":/);
  t.match(text({ ...list, name: "PUT /api/jobs" }), /PUT: \{\n {4}"\/api\/jobs":/);
  t.match(
    text({ ...list, answer: routeOf("GET /api/me").answer }),
    /answer: identity\.CallerReply/,
  );
  t.match(text({ ...list, query: null }), /asked: NoFields; answer: jobs\.JobListReply/);
  t.match(text({ ...handover, body: list.query }), /id: string \}; body: jobs\.JobListQuery/);
});

t.test(
  "a page, a file, a text, a probe and a token of the registry stand in no table",
  async (t) => {
    const others = [
      "GET /",
      "GET /metrics",
      "GET /api/jobs/:id/logs/:member/whole",
      "GET /api/live",
    ];
    for (const name of [...others, "GET /api/people/:id/data", "GET /token", "GET /readyz"])
      t.equal(isListed(routeOf(name)), false, name);
  },
);
