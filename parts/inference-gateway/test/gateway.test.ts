/** What the gateway says before it has heard of any key. */
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { type GatewayParts, makeGateway } from "../src/gateway.ts";
import { SILENT_LOG as log } from "@resontech/house/silent-log";

type KnownRoutes = GatewayParts["routes"];

async function askedOf(
  t: Test,
  routes: Partial<KnownRoutes>,
  given: Partial<GatewayParts["refusals"]> = {},
) {
  const known = { find: () => null, all: () => [], keys: new Map(), ...routes };
  const refusals: GatewayParts["refusals"] = { wrongKey: async () => true, hidden: () => {} };
  const parts = { routes: known, numbers: { now: 0 }, refusals: { ...refusals, ...given }, log };
  const server = makeGateway(parts as unknown as GatewayParts);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  return async (method: string, path: string, key = "rpk_good") =>
    await fetch(`http://127.0.0.1:${port}${path}`, {
      ...{ method, headers: { authorization: `Bearer ${key}`, connection: "close" } },
      ...(method === "POST" ? { body: "{}" } : {}),
    });
}

t.test("no key is refused and no deployment missed before any is known", async (t) => {
  const ask = await askedOf(t, { isFresh: false, isTold: false });
  for (const [method, path, isOpenAi] of [
    ["POST", "/inference/job-1/predict", false],
    ["GET", "/inference/job-1/health", false],
    ["POST", "/inference/job-1/of-its-own", false],
    ["GET", "/inference/job-1/of-its-own?a=1", false],
    ["POST", "/inference/job-1/v1/of-its-own", true],
    ["POST", "/inference/job-1/v1/chat/completions", true],
    ["POST", "/v1/chat/completions", true],
    ["GET", "/v1/models", true],
    ["GET", "/v1/models/chat", true],
  ] as const) {
    const answer = await ask(method, path);
    t.equal(answer.status, 503, `${method} ${path}`);
    t.equal(answer.headers.get("retry-after"), "5", `${method} ${path}`);
    const { error } = (await answer.json()) as { error: { type: string; code?: string } };
    t.equal(isOpenAi ? error.code : error.type, "unavailable", `${method} ${path}`);
  }
  for (const path of ["/v1/slots", "/elsewhere"])
    t.equal((await ask("GET", path)).status, 404, `${path} is nobody's in any case`);
});

t.test(
  "while the coordinator is away, a key that is in no table may be a newer one, and is not refused",
  async (t) => {
    const calls = [
      ["POST", "/inference/job-1/predict"],
      ["POST", "/inference/job-1/v1/chat/completions"],
      ["POST", "/v1/chat/completions"],
      ["GET", "/v1/models"],
    ] as const;
    const away = await askedOf(t, { isFresh: true, isTold: false });
    for (const [method, path] of calls)
      t.equal((await away(method, path)).status, 503, `${method} ${path}, away`);
    const there = await askedOf(t, { isFresh: true, isTold: true });
    for (const [method, path] of calls)
      t.equal((await there(method, path)).status, 401, `${method} ${path}, there`);
  },
);

t.test("a key is refused only once its refusal is on record", async (t) => {
  for (const isOnRecord of [true, false]) {
    const ask = await askedOf(
      t,
      { isFresh: true, isTold: true },
      { wrongKey: async () => isOnRecord },
    );
    for (const [method, path] of [
      ["POST", "/inference/job-1/predict"],
      ["POST", "/v1/chat/completions"],
    ] as const) {
      const { status, headers } = await ask(method, path);
      t.equal(status, isOnRecord ? 401 : 503, path);
      t.equal(headers.get("retry-after"), isOnRecord ? null : "5", path);
    }
  }
});
