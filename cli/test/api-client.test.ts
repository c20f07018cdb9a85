import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { getJson, sendJson } from "../src/api-client.ts";
import type { Settings } from "../src/settings.ts";

type Sent = { line: string; type: string | undefined; body: string };

const sent: Sent[] = [];
const server = createServer((request, response) => {
  void (async () => {
    sent.push(await asSent(request));
    response.setHeader("content-type", "application/json").end('{"id":"job-1"}');
  })();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
t.teardown(() => server.close());

const settings: Settings = {
  baseUrl: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
  credential: async () => "rsk_dev_x",
  ca: null,
  project: null,
};

async function asSent(request: IncomingMessage): Promise<Sent> {
  let body = "";
  for await (const chunk of request) body += String(chunk);
  const line = `${request.method} ${request.url}`;
  return { line, type: request.headers["content-type"], body };
}

async function lineOf(asked: Promise<unknown>): Promise<string | undefined> {
  await asked;
  return sent.at(-1)?.line;
}

t.test("parameters of a path are encoded, and a query has what is not undefined", async (t) => {
  const params = { id: "job/../x y", member: "site-1" };
  const query = { offset: -5, bytes: undefined };
  t.equal(
    await lineOf(getJson(settings, "/api/jobs/{id}/logs/{member}", { params, query })),
    "GET /api/jobs/job%2F..%2Fx%20y/logs/site-1?offset=-5",
  );
  t.equal(
    await lineOf(getJson(settings, "/api/jobs", { query: { text: "a&b c" } })),
    "GET /api/jobs?text=a%26b+c",
  );
  t.equal(await lineOf(getJson(settings, "/api/jobs")), "GET /api/jobs");
});

t.test("a body goes as JSON, and where there is none nothing is sent", async (t) => {
  const body = { byApproval: true };
  await sendJson(settings, "PUT", "/api/projects/{id}/exports", { params: { id: "p_1" }, body });
  t.same(sent.at(-1), {
    ...{ line: "PUT /api/projects/p_1/exports", type: "application/json" },
    body: JSON.stringify(body),
  });
  await sendJson(settings, "POST", "/api/tasks/{id}/cancel", { params: { id: "job-1" } });
  t.same(sent.at(-1), { line: "POST /api/tasks/job-1/cancel", type: undefined, body: "" });
  t.equal(
    await lineOf(
      sendJson(settings, "DELETE", "/api/users/storage/objects", { query: { key: "a/b" } }),
    ),
    "DELETE /api/users/storage/objects?key=a%2Fb",
  );
});

t.test("a wrong path, parameter, query, body or answer does not compile", async (t) => {
  t.type(refusedByTheCompiler, "function", "`npm run check:types` reads each line of it");
});

/** Nobody calls it: the compiler refuses each line, and refuses this file where it would take one. */
async function refusedByTheCompiler(): Promise<void> {
  // @ts-expect-error there is no such path
  await getJson(settings, "/api/jbos");
  // @ts-expect-error the path has a parameter, which is missing
  await getJson(settings, "/api/jobs/{id}/logs");
  // @ts-expect-error the parameter has another name
  await getJson(settings, "/api/jobs/{id}/logs", { params: { job: "job-1" } });
  // @ts-expect-error a path is named, never filled in by hand
  await getJson(settings, `/api/jobs/${"job-1" as string}/logs`);
  // @ts-expect-error the query has no such member
  await getJson(settings, "/api/jobs", { query: { stat: "RUNNING" } });
  // @ts-expect-error a number of the query is no text
  await getJson(settings, "/api/jobs", { query: { limit: "many" } });
  // @ts-expect-error the route takes no query
  await getJson(settings, "/api/me", { query: { limit: 1 } });
  // @ts-expect-error there is no such question
  await getJson(settings, "/api/audit/questions/{question}", { params: { question: "why" } });
  // @ts-expect-error the path has another method
  await sendJson(settings, "PUT", "/api/tasks/{id}/cancel", { params: { id: "job-1" } });
  // @ts-expect-error the body is missing
  await sendJson(settings, "PUT", "/api/projects/{id}/exports", { params: { id: "p_1" } });
  const params = { id: "p_1" };
  // @ts-expect-error the body has no such field
  await sendJson(settings, "PUT", "/api/projects/{id}/exports", { params, body: { by: true } });
  // @ts-expect-error the route takes no body
  await sendJson(settings, "POST", "/api/tasks/{id}/cancel", { params, body: { why: "x" } });
  const task = await sendJson(settings, "POST", "/api/tasks/{id}/cancel", { params });
  // @ts-expect-error the answer has no such field
  void task.stat;
  // @ts-expect-error the answer is of another kind
  const nodes: string[] = await getJson(settings, "/api/nodes");
  void nodes;
}
