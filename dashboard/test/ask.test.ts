import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { ask, askAgain, keepCsrfToken } from "../src/api/ask.ts";

type Sent = { line: string; headers: IncomingMessage["headers"]; body: string };

const sent: Sent[] = [];
let breaks = 0;
const server = createServer((request, response) => {
  void (async () => {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    sent.push({ line: `${request.method} ${request.url}`, headers: request.headers, body });
    if (breaks-- > 0) request.socket.destroy();
    else response.setHeader("content-type", "application/json").end("{}");
  })();
});
await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
// A page asks its own origin; Node has none.
const fetchAnywhere = globalThis.fetch;
globalThis.fetch = async (path, init) => await fetchAnywhere(new URL(path as string, origin), init);
t.teardown(() => {
  globalThis.fetch = fetchAnywhere;
  server.close();
  server.closeAllConnections();
});

t.test("parameters are encoded, and a field that was left empty is no filter", async (t) => {
  const params = { id: "job-1", member: "a/b c" };
  await ask("GET", "/api/jobs/{id}/logs/{member}", { params, query: { offset: -5, bytes: 10 } });
  t.equal(sent.at(-1)?.line, "GET /api/jobs/job-1/logs/a%2Fb%20c?offset=-5&bytes=10");
  await ask("GET", "/api/jobs", { query: { text: "", state: undefined, limit: 8 } });
  t.equal(sent.at(-1)?.line, "GET /api/jobs?limit=8");
  await ask("GET", "/api/jobs", { query: { text: "" } });
  t.equal(sent.at(-1)?.line, "GET /api/jobs");
});

t.test("project, key and token go beside the body, and without a body there is none", async (t) => {
  keepCsrfToken("csrf-1");
  const body = { key: "a.zip", size: 3 };
  await ask("POST", "/api/users/storage/upload/init", {
    ...{ body, project: "p_1", idempotencyKey: "once" },
  });
  t.match(sent.at(-1), {
    line: "POST /api/users/storage/upload/init",
    headers: { "x-rt-csrf": "csrf-1", "x-rt-project": "p_1", "idempotency-key": "once" },
    body: JSON.stringify(body),
  });
  await ask("POST", "/api/tasks/{id}/cancel", { params: { id: "job-1" } });
  t.equal(sent.at(-1)?.body, "");
  t.notHas(sent.at(-1)?.headers, { "content-type": "application/json" });
});

t.test("a request that may be done twice is sent again after a broken connection", async (t) => {
  const before = sent.length;
  breaks = 1;
  await askAgain("POST", "/api/tasks/{id}/resubmit", {
    ...{ params: { id: "job-1" }, idempotencyKey: "once" },
  });
  const lines = sent.slice(before).map(({ line }) => line);
  t.same(lines, Array(2).fill("POST /api/tasks/job-1/resubmit"));
});

t.test("a wrong path, parameter, query, body or answer does not compile", async (t) => {
  t.type(refusedByTheCompiler, "function", "`npm run check:types` reads each line of it");
});

/** Nobody calls it: the compiler refuses each line, and refuses this file where it would take one. */
async function refusedByTheCompiler(): Promise<void> {
  // @ts-expect-error there is no such path
  await ask("GET", "/api/jbos");
  // @ts-expect-error the path has another method
  await ask("GET", "/api/tasks/{id}/cancel", { params: { id: "job-1" } });
  // @ts-expect-error the path has a parameter, which is missing
  await ask("GET", "/api/jobs/{id}/logs");
  // @ts-expect-error the query has no such member
  await ask("GET", "/api/jobs", { query: { stat: "RUNNING" } });
  // @ts-expect-error the route takes no query
  await ask("GET", "/api/keys", { query: { limit: 1 } });
  const params = { id: "p_1" };
  // @ts-expect-error the body has no such field
  await ask("PUT", "/api/projects/{id}/models", { params, body: { refuses: true } });
  // @ts-expect-error the body is missing
  await askAgain("POST", "/api/tasks", { idempotencyKey: "once" });
  // @ts-expect-error nothing of a request has this name
  await ask("GET", "/api/keys", { projct: "p_1" });
  const list = await ask("GET", "/api/jobs");
  // @ts-expect-error the answer has no such field
  void list.rows;
}
