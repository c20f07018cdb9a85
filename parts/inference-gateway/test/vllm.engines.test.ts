/**
 * vLLM behind the real front of it: the gateway, the bridge of an agent, and the program around the engine. The engine's own place has a process that
 * answers what a real one was recorded to answer; RT_TEST_VLLM_PYTHON and RT_TEST_VLLM_MODEL put a real one there.
 */
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { isReal, recorded, startVllm } from "./helper/vllm-replica.ts";
import { RunningGateway } from "./helper/running-gateway.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(isReal ? 600_000 : 240_000);
const KEY = "rpk_the-key-of-this-test";
const MODEL = "small chat";
// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rtv-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const port = await freePort();
const gateway = await RunningGateway.open(dir, port, [
  {
    ...{ deployment: "job-1", name: MODEL, api: "openai", engine: "vllm" },
    ...{ maxOngoingRequests: 4, key: KEY },
  },
]);
t.teardown(() => gateway[Symbol.asyncDispose]());
const replica = startVllm(join(dir, "replica"), { port });
// By its own way: a real engine has processes of its own, which end with the container otherwise.
t.teardown(async () => {
  replica.stop();
  await replica.ended();
});
await replica.ready(isReal ? 400_000 : 60_000);

type Body = Record<string, unknown>;
/** Of a recorded call: its body without what the recorder alone may ask for, and what came. */
function call(name: string) {
  const found = recorded.recordings.find((one) => one.name === name);
  if (found === undefined) throw new Error(`nobody recorded ${name}`);
  const { ignore_eos: _, stream_options: _options, ...body } = found.request.body ?? {};
  return { path: found.request.path, body, answer: found.answer };
}
function open(path: string, body: unknown, socketPath = gateway.socket): ClientRequest {
  const asked = request({
    ...{ socketPath, method: "POST", path },
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  });
  asked.on("error", () => {});
  asked.end(JSON.stringify(body));
  return asked;
}
async function ask(path: string, body: unknown, socketPath = gateway.socket) {
  const [from] = (await once(open(path, body, socketPath), "response")) as [IncomingMessage];
  return { status: from.statusCode, said: await text(from) };
}
async function askRecorded(name: string, more: Body = {}) {
  const { path, body } = call(name);
  return await ask(path, { ...body, ...more });
}
/** What differs from one answer to the next. */
const steady = (said: string) =>
  said
    .replaceAll(/"id":"(?:chat)?cmpl-[^"]*"/g, '"id":"_"')
    .replaceAll(/"created":\d+/g, '"created":0');
const eventsOf = (said: string) =>
  said.split("\n\n").filter((event) => event !== "" && !event.startsWith(":"));

t.test("answers come as the engine gives them, whole and in pieces", async (t) => {
  for (const name of ["chat", "completion", "schema"]) {
    const { status, said } = await askRecorded(name);
    t.equal(status, 200, name);
    t.equal(steady(said), steady(call(name).answer.pieces.join("")), name);
  }
  for (const name of ["chat stream", "completion stream"]) {
    const whole = eventsOf(steady(call(name).answer.pieces.join("")));
    const usage = whole.filter((event) => /"choices":\[\],.*"usage":\{/.test(event));
    t.equal(usage.length, 1);
    const unasked = await askRecorded(name);
    t.same(
      eventsOf(steady(unasked.said)),
      whole.filter((event) => !usage.includes(event)),
      name,
    );
    const asked = await askRecorded(name, { stream_options: { include_usage: true } });
    t.same(eventsOf(steady(asked.said)), whole, `${name}, with its usage`);
  }
});

t.test("tools, several answers and probabilities pass", async (t) => {
  const tool = eventsOf((await askRecorded("forced tool stream")).said).join();
  t.match(tool, /"tool_calls":\[\{"id":"[^"]+","type":"function"/);
  const { choices } = JSON.parse((await askRecorded("two answers")).said) as { choices: unknown[] };
  t.equal(choices.length, 2);
  t.match((await askRecorded("logprobs")).said, /"top_logprobs":\[\{"token"/);
});

t.test("what a call used is on record, as the engine counted it", async (t) => {
  const readEnds = () => gateway.readCalls().filter((line) => line.kind === "end");
  const begun = gateway.readCalls().filter((line) => line.kind === "call").length;
  await askRecorded("chat");
  await askRecorded("chat stream");
  await untilFound("the ends of all calls", () => readEnds().length >= begun + 2);
  const ends = readEnds();
  const usage = { promptTokens: 34, completionTokens: 8, isExact: true };
  t.match(ends.slice(-2), [
    { status: 200, outcome: "answered", usage },
    { status: 200, outcome: "answered", usage },
  ]);
});

t.test("the engine's refusals have the API's codes, and no internals", async (t) => {
  for (const [name, code, message] of [
    ["too long", "context_length_exceeded", /maximum context length is 256/],
    ["too long completion", "context_length_exceeded", /maximum context length/],
    ["too many tokens", "context_length_exceeded", /max_model_len=256/],
    ["bad temperature", "invalid_value", /temperature/],
    ["bad type", "invalid_type", /max_tokens/],
    ["suffix", "invalid_request", /suffix/],
    ["picture by URL", "url_not_allowed", /data:/],
    ["embeddings", "unsupported_by_model", /./],
  ] as const) {
    const { status, said } = await askRecorded(name);
    t.equal(status, 400, name);
    t.match(JSON.parse(said), { error: { code, message } }, name);
  }
});

t.test("nothing but a call reaches the engine, and of a call what is listed", async (t) => {
  const { path, body } = call("chat");
  const hostile = {
    ...{ chat_template: "{{ 1 }}", cache_salt: "another's", prompt_embeds: "x", priority: -1 },
    ...{ mm_processor_kwargs: {}, kv_transfer_params: {}, request_id: "r" },
  };
  const own = "/inference/job-1/v1/chat/completions";
  for (const [param, value] of Object.entries(hostile)) {
    const { status, said } = await ask(own, { ...body, [param]: value });
    t.equal(status, 400, param);
    t.match(JSON.parse(said), { error: { code: "unknown_parameter", param } });
  }
  const { status, said } = await ask(own, { ...body, model: "job-1", user: "somebody" });
  t.equal(status, 200);
  t.match(JSON.parse(said), { model: MODEL, usage: { prompt_tokens: 34 } });
  const direct = async (method: string, way: string) => {
    const asked = request({ host: "127.0.0.1", port, method, path: way });
    if (method === "POST") asked.setHeader("content-length", 2);
    asked.end(method === "POST" ? "{}" : "");
    const [from] = (await once(asked, "response")) as [IncomingMessage];
    from.resume();
    return from.statusCode;
  };
  for (const other of [
    ...Object.keys(recorded.otherPaths),
    "POST /v1/embeddings",
    "GET /metrics",
  ]) {
    const [method = "", way = ""] = other.split(" ");
    t.equal(await direct(method, way), 404, other);
  }
  if (isReal) return;
  const asked = [...replica.output.matchAll(/^asked (\S+) (.*)$/gm)].at(-1);
  t.equal(asked?.[1], path);
  const reached = JSON.parse(asked?.[2] ?? "null") as Body;
  t.match(reached, { model: MODEL, cache_salt: /^[\w-]{43}$/ }, "salt of the gateway's");
  t.same(Object.keys(reached).sort(), [...Object.keys(body), "cache_salt"].sort());
});

t.test("who hangs up frees the engine at once, in a stream and before it answers", async (t) => {
  const aborted = () => replica.output.split("aborted ").length - 1;
  for (const name of ["long chat stream", "long chat"]) {
    const before = aborted();
    const long = call(name);
    const asked = open(long.path, long.body);
    if (name === "long chat stream") await once(asked, "response");
    else await sleep(100);
    asked.destroy();
    if (isReal) await sleep(1_000);
    else await untilFound("the engine hears of it", () => aborted() > before);
    t.match(await askRecorded("chat"), { status: 200 });
  }
  t.ok(Object.values(recorded.freeAfterHangUpS).every((seconds) => seconds < 1));
});

t.test("it sleeps where it stands, all of it, and answers as before", async (t) => {
  const before = steady((await askRecorded("chat")).said);
  const stat = () => readFileSync(`/proc/${replica.enginePid}/stat`, "utf8");
  for (const turn of [0, 2, 4]) {
    replica.wish(turn + 1, true);
    await replica.stands("asleep", turn + 1, 20_000);
    await untilFound("it stops", () => /\) T /.test(stat()));
    replica.wish(turn + 2, false);
    await replica.stands("well", turn + 2, 10_000);
    t.equal(steady((await askRecorded("chat")).said), before);
  }
});

t.test(
  "an engine that can't start says why, by the first word that tells",
  { skip: isReal },
  async (t) => {
    for (const [name, reason, message] of [
      [
        "no weights",
        "user_exception",
        /^the weights could not be loaded: RuntimeError: Cannot find/,
      ],
      ["cut weights", "user_exception", /^the weights could not be loaded: /],
      ["code of its own", "user_exception", /^the weights could not be loaded: .*custom code/],
      [
        "unknown architecture",
        "user_exception",
        /^the weights could not be loaded: .*not supported/,
      ],
      ["other shapes", "payload_exited", /RuntimeError: The size of tensor a/],
      [
        "context beyond the model's",
        "user_exception",
        /^the weights could not be loaded: .*max_model_len/,
      ],
    ] as const) {
      await using failing = startVllm(
        join(dir, name),
        { port: await freePort() },
        { fault: `log:${name}` },
      );
      t.equal(await failing.ended(), 1, name);
      t.match(failing.told(), [{ kind: "failed", reason, message }], name);
    }
  },
);

t.test("one that hangs while its socket takes calls is ended", { skip: isReal }, async (t) => {
  await using hung = startVllm(join(dir, "hung"), { port: await freePort() }, { fault: "hang" });
  await hung.ready();
  const asked = request({
    ...{ host: "127.0.0.1", port: hung.port, method: "POST", path: "/v1/chat/completions" },
  });
  asked.on("error", () => {});
  asked.end(JSON.stringify(call("chat").body));
  t.equal(await hung.ended(), 1);
  t.match(hung.told().at(-1), { kind: "failed", reason: "no_progress" });
});

t.test(
  "a stream whose engine ends says so in the API's words, and the agent hears of it",
  { skip: isReal },
  async (t) => {
    const at = join(dir, "b");
    mkdirSync(at);
    const door = await freePort();
    await using breaking = startVllm(join(at, "r"), { port: door }, { fault: "broken" });
    await breaking.ready();
    const route = { deployment: "job-1", name: MODEL, api: "openai", key: KEY } as const;
    await using before = await RunningGateway.open(at, door, [{ ...route, maxOngoingRequests: 4 }]);
    const { path, body } = call("long chat stream");
    const { status, said } = await ask(path, body, before.socket);
    t.equal(status, 200);
    const events = eventsOf(said);
    t.match(JSON.parse(events.at(-2)!.slice("data: ".length)), {
      error: { code: "engine_failed", type: "server_error" },
    });
    t.equal(events.at(-1), "data: [DONE]");
    t.notMatch(said, /EngineCore/);
    t.match(recorded.brokenStream.pieces.join(""), /EngineCore/, "the engine's own words");
    t.equal(await breaking.ended(), 1);
    t.match(breaking.told().at(-1), {
      ...{ kind: "failed", reason: "payload_exited", message: /ended early with exit code 0/ },
    });
  },
);

t.test("the recorded one told nothing of what was asked in its log", async (t) => {
  t.equal(recorded.saysWhatWasAsked, false);
  t.match(recorded.version, /^0\.3[2-9]\./);
});
