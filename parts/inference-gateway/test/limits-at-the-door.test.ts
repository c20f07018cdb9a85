/** Keys, their limits and what is counted, at the gateway's own door. The replica, the coordinator and auditd are played (helper/played-gateway.ts). */
import { setTimeout as sleep } from "node:timers/promises";
import type { Route } from "@resontech/contracts/inference-routes";
import t from "tap";
import { digestOf, PlayedGateway } from "./helper/played-gateway.ts";

t.setTimeout(600_000);
const NONE = { requestsPerMinute: null, tokensPerMinute: null, concurrency: null };
const route = (change: Partial<Route>): Omit<Route, "replicas"> => ({
  ...{
    deployment: "job-1",
    name: "chat",
    createdAt: 0,
    api: "openai",
    project: "p_1",
    aliases: [],
  },
  ...{ visibility: "PRIVATE", keySha256: digestOf("own"), maxOngoingRequests: 64 },
  ...{ contextTokens: 200, generation: 1, state: "HOT", wakeMs: 0, ...change },
});
const platform = (project: string, key: string) => ({
  ...{ id: key, sha256: digestOf(key), project, expiresAt: Date.now() + 600_000 },
});
const CHAT = "/v1/chat/completions";
const ask = (model: string, more: object = {}) => ({
  ...{ model, messages: [{ role: "user", content: "hi" }], max_tokens: 3, ...more },
});
const errorOf = ({ body }: { body: string }) =>
  (JSON.parse(body) as { error: { code?: string; type: string } }).error;

t.test("platform keys open their project's models and PUBLIC ones, until revoked", async (t) => {
  await using played = await PlayedGateway.open(
    [
      route({ name: "mine" }),
      route({
        deployment: "job-2",
        name: "theirs",
        project: "p_2",
        aliases: [],
        keySha256: digestOf("two"),
      }),
      route({
        ...{ deployment: "job-3", name: "all", project: "p_2", aliases: [], visibility: "PUBLIC" },
        keySha256: digestOf("three"),
      }),
      route({
        ...{ deployment: "job-4", name: "echo", api: "predict", keySha256: digestOf("four") },
      }),
    ],
    [platform("p_1", "rsk_a"), platform("p_9", "rsk_b")],
  );
  const models = async (key: string) => {
    const { status, body } = await played.get("/v1/models", key);
    if (status !== 200) return status;
    return (JSON.parse(body) as { data: { id: string }[] }).data.map(({ id }) => id);
  };
  t.same(await models("rsk_a"), ["mine", "all"]);
  t.same(await models("rsk_b"), ["all"]);
  t.same(await models("own"), ["mine"]);
  t.equal(await models("rsk_c"), 401);
  t.equal((await played.post(CHAT, "rsk_a", ask("mine"))).status, 200);
  t.equal((await played.post(CHAT, "rsk_b", ask("all"))).status, 200);
  t.equal(errorOf(await played.post(CHAT, "rsk_b", ask("mine"))).code, "model_not_found");
  t.equal(
    (await played.post("/inference/job-2/v1/chat/completions", "rsk_a", ask("x"))).status,
    401,
  );
  t.equal((await played.post("/inference/job-4/predict", "rsk_a", {})).status, 200);
  t.equal((await played.post("/inference/job-4/predict", "rsk_b", {})).status, 401);
  t.equal((await played.post("/inference/job-4/predict", "own", {})).status, 401);
  const refusals = () =>
    played.facts.filter(
      ({ type, action }) => type !== "model.calls" && action !== "GET /v1/models",
    );
  t.match(refusals(), [
    {
      ...{ type: "auth.refused", actor: { sub: "rsk_b", kind: "key" } },
      ...{ action: "POST /v1/chat/completions", outcome: { code: "model_not_found", status: 404 } },
      detail: { reason: "model_not_found", project: "p_9", kind: "job" },
    },
    {
      ...{ type: "auth.refused", actor: { sub: "rsk_a", kind: "key" } },
      action: "POST /inference/:deployment/v1/chat/completions",
      ...{ outcome: { code: "invalid_api_key", status: 401 }, detail: { project: "p_1" } },
    },
    {
      ...{ type: "auth.refused", actor: { sub: "rsk_b", kind: "key" } },
      action: "POST /inference/:deployment/predict",
      ...{ outcome: { code: "auth_error", status: 401 }, detail: { project: "p_9" } },
    },
    {
      ...{ type: "auth.failure", actor: { sub: "anonymous" } },
      action: "POST /inference/:deployment/predict",
      ...{
        outcome: { code: "auth_error", status: 401 },
        detail: { reason: "auth_error", count: 1 },
      },
    },
  ]);
  t.equal(refusals().length, 4);
  t.notMatch(JSON.stringify(refusals()), /job-2|job-4|p_2/, "nothing of what was asked for");
  t.equal(errorOf(await played.post(CHAT, "rsk_b", ask("none"))).code, "model_not_found");
  t.equal((await played.post(CHAT, "rsk_d", ask("mine"))).status, 401);
  t.equal(refusals().length, 4, "a name of nobody's is no refusal, and a wrong key is counted");
  played.tell({ keys: [platform("p_9", "rsk_b")] });
  for (let tries = 0; tries < 5_000 && (await models("rsk_a")) !== 401; tries++) await sleep(10);
  t.equal(await models("rsk_a"), 401, "it was revoked");
  t.same(await models("rsk_b"), ["all"]);
  await played.stop();
  t.match(
    refusals().slice(4),
    [{ type: "auth.failure", action: undefined, detail: { reason: "invalid_api_key" } }],
    "what was counted is on record when it stops",
  );
});

t.test("100 parallel calls never pass a limit, and hear when to come again", async (t) => {
  for (const [limits, most] of [
    [{ requestsPerMinute: 7 }, 7],
    // Each may cost its text, some 60 tokens, and 40 more.
    [{ tokensPerMinute: 1_000 }, 12],
    [{ concurrency: 3 }, null],
  ] as const) {
    await using played = await PlayedGateway.open([
      route({ limits: { ownKey: { ...NONE, ...limits }, platformKeys: NONE } }),
    ]);
    // None has ended before the last one has come, also on a machine that is slow.
    played.thinkMs = 3_000;
    const from = performance.now();
    const answers = await Promise.all(
      Array.from({ length: 100 }, () => played.post(CHAT, "own", ask("chat", { max_tokens: 40 }))),
    );
    const good = answers.filter(({ status }) => status === 200);
    const over = answers.filter(({ status }) => status === 429);
    const name = JSON.stringify(limits);
    t.equal(good.length + over.length, 100, name);
    // What a minute allows grows while calls come.
    const minutes = (performance.now() - from) / 60_000;
    const bound = most === null ? 3 : Math.floor(most * (1 + minutes));
    t.ok(good.length > 0 && good.length <= bound, `${good.length} of ${bound}: ${name}`);
    t.equal(played.engine.calls, good.length, "no other call has come to the engine");
    const [refused] = over;
    t.match(errorOf(refused!), { code: "rate_limited", type: "rate_limit_error" });
    const wait = Number(refused?.headers["retry-after"]);
    t.ok(wait >= 1 && wait <= 60, `${wait} s`);
    for (const kind of ["requests", "tokens"] as const)
      if (`${kind}PerMinute` in limits)
        t.match(good[0]?.headers, {
          [`x-ratelimit-limit-${kind}`]: /^\d+$/,
          [`x-ratelimit-remaining-${kind}`]: /^\d+$/,
          [`x-ratelimit-reset-${kind}`]: /^\d+s$/,
        });
  }
});

t.test("100 parallel lists never pass a limit, and each answer of each is counted", async (t) => {
  await using played = await PlayedGateway.open([
    route({ limits: { ownKey: { ...NONE, tokensPerMinute: 1_000 }, platformKeys: NONE } }),
  ]);
  played.thinkMs = 1_000;
  const from = performance.now();
  // Three prompts of one byte, two answers each: 6 × (9 + 20) tokens at most, and 3 × 5 + 6 × 20 in truth.
  const list = { model: "chat", prompt: ["a", "b", "c"], n: 2, max_tokens: 20 };
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => played.post("/v1/completions", "own", list)),
  );
  const good = answers.filter(({ status }) => status === 200).length;
  const minutes = (performance.now() - from) / 60_000;
  t.ok(good > 0 && good <= Math.floor((1_000 * (1 + minutes)) / 174), `${good} lists`);
  t.equal(answers.filter(({ status }) => status === 429).length, 100 - good);
  await until(() => sumOf(played, "calls") === good);
  t.equal(sumOf(played, "promptTokens"), good * 15);
  t.equal(sumOf(played, "completionTokens"), good * 120);
});

t.test("tokens that were not used come back; what never fits is said so", async (t) => {
  await using played = await PlayedGateway.open([
    route({ limits: { ownKey: { ...NONE, tokensPerMinute: 200 }, platformKeys: NONE } }),
  ]);
  for (let call = 0; call < 5; call++) {
    const { status, headers } = await played.post(CHAT, "own", ask("chat"));
    t.equal(status, 200, `call ${call}`);
    t.ok(Number(headers["x-ratelimit-remaining-tokens"]) < 200);
  }
  const never = await played.post(CHAT, "own", ask("chat", { n: 4, max_tokens: 100 }));
  t.equal(never.status, 400);
  t.match(errorOf(never), { code: "tokens_over_limit", type: "invalid_request_error" });
});

t.test("a predictor's key has its limits in the predictors' form", async (t) => {
  await using played = await PlayedGateway.open([
    route({
      api: "predict",
      limits: { ownKey: { ...NONE, requestsPerMinute: 1 }, platformKeys: NONE },
    }),
  ]);
  t.equal((await played.post("/inference/job-1/predict", "own", {})).status, 200);
  const over = await played.post("/inference/job-1/predict", "own", {});
  t.equal(over.status, 429);
  t.equal(errorOf(over).type, "rate_limited");
  t.equal(over.headers["retry-after"], "60");
});

t.test("what is counted and what is used are what the engine counts", async (t) => {
  await using played = await PlayedGateway.open([route({})], [platform("p_1", "rsk_a")]);
  for (let call = 0; call < 20; call++)
    await played.post(
      CHAT,
      call % 2 === 0 ? "own" : "rsk_a",
      ask("chat", { max_tokens: call + 1 }),
    );
  await played.post(CHAT, "own", ask("chat", { stream: true, max_tokens: 7 }));
  t.equal((await played.post(CHAT, "own", { model: "chat", messages: 1 })).status, 400);
  const { engine } = played;
  await until(() => sumOf(played, "calls") === 21);
  t.equal(sumOf(played, "promptTokens"), engine.promptTokens);
  t.equal(sumOf(played, "completionTokens"), engine.completionTokens);
  t.equal(sumOf(played, "inexact") + sumOf(played, "failed"), 0);
  t.equal(played.usage.size, 2, "one row a key");
  await until(() => played.numbers[0]?.requests === 21);
  const [numbers] = played.numbers;
  t.match(numbers, { deployment: "job-1", errors: {}, completionTokens: engine.completionTokens });
  const inClasses = (counts: readonly number[] = []) => counts.reduce((all, one) => all + one, 0);
  t.equal(inClasses(numbers?.duration.counts), 21);
  t.equal(inClasses(numbers?.firstByte.counts), 21);

  const before = new Map(played.usage);
  await played.stop();
  played.usage.clear();
  await played.start();
  await until(() => played.usage.size === 2);
  t.same(played.usage, before, "a gateway that starts anew comes to the same sums");
  t.same(played.numbers, [], "and counts from nothing");

  played.thinkMs = 20;
  await played.abort(CHAT, "own", ask("chat", { stream: true, max_tokens: 150 }), 5);
  await until(() => sumOf(played, "failed") === 1);
  t.equal(sumOf(played, "inexact"), 1, "what was seen of a call that its caller left");
  await until(() => played.numbers[0]?.errors["client_gone"] === 1);
  played.tell({ routes: [] });
  await until(() => played.numbers.length === 0);
});

function sumOf(
  { usage }: PlayedGateway,
  name: "calls" | "failed" | "inexact" | "promptTokens" | "completionTokens",
): number {
  return [...usage.values()].reduce((sum, row) => sum + row[name], 0);
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; tries < 5_000 && !holds(); tries++) await sleep(10);
  if (!holds()) throw new Error(`it did not come to ${String(holds)}`);
}
