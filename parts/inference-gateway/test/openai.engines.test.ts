/**
 * The OpenAI API with a real model: the unmodified clients, the real front door, the gateway, the bridge of an agent, the program around
 * llama.cpp and llama.cpp itself. The coordinator is scripted.
 */
import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { fieldsOf, OPENAI_FIELDS } from "@resontech/contracts/openai-fields";
import t from "tap";
import { untilFound } from "@resontech/house/until-found";
import { makeTestCa } from "@resontech/house/test-ca";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { llamaPython } from "@resontech/house/llama-python";
import { startLlama } from "./helper/llama-replica.ts";
import { RunningGateway } from "./helper/running-gateway.ts";
import { freePort } from "@resontech/house/free-port";

t.setTimeout(600_000);
const run = promisify(execFile);
const KEY = "rpk_the-key-of-this-test";
const MODEL = "small chat";
// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rto-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));

const { python, weights } = await llamaPython();
const port = await freePort();
const gateway = await RunningGateway.open(dir, port, [
  {
    ...{ deployment: "job-1", name: MODEL, api: "openai", engine: "llama.cpp" },
    ...{ maxOngoingRequests: 2, key: KEY },
  },
  { deployment: "job-2", name: "echo", api: "predict", maxOngoingRequests: 2, key: KEY },
]);
t.teardown(() => gateway[Symbol.asyncDispose]());
mkdirSync(join(dir, "ca"));
const certificates = await makeTestCa(join(dir, "ca"));
const door = await RunningDoor.start(join(dir, "door"), certificates, {
  ...{ coordinatorSocket: join(dir, "nobody.sock"), servingSocket: gateway.socket },
});
t.teardown(() => door[Symbol.asyncDispose]());
// Last: what fails before it leaves no engine behind.
const replica = startLlama(python, join(dir, "replica"), { modelPath: weights, port });
t.teardown(() => replica[Symbol.asyncDispose]());
await replica.ready();

/** Prints one JSON object. */
async function client(program: string, args: readonly string[]): Promise<unknown> {
  const { stdout } = await run(program, args, {
    env: {
      ...{ PATH: process.env["PATH"] ?? "", API_KEY: KEY, MODEL },
      BASE_URL: `https://localhost:${door.port}/v1`,
      ...{ SSL_CERT_FILE: certificates.caFile, NODE_EXTRA_CA_CERTS: certificates.caFile },
    },
    timeout: 120_000,
  });
  return JSON.parse(stdout.trimEnd().split("\n").at(-1) ?? "null");
}

type Asked = { path?: string; key?: string; body?: unknown; headers?: Record<string, string> };
function open({ path = "/v1/chat/completions", key = KEY, body, headers = {} }: Asked) {
  const asked = request({
    ...{ socketPath: gateway.socket, method: body === undefined ? "GET" : "POST", path },
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
  });
  asked.on("error", () => {});
  asked.end(typeof body === "string" ? body : body === undefined ? "" : JSON.stringify(body));
  return asked;
}
async function answerOf(asked: ClientRequest) {
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  return { status: from.statusCode, headers: from.headers, text: await text(from) };
}
async function drained(call: ClientRequest): Promise<void> {
  const [answer] = (await once(call, "response")) as [IncomingMessage];
  answer.resume();
  await once(answer, "end");
}

async function ask(asked: Asked) {
  const { text: said, ...answer } = await answerOf(open(asked));
  return { ...answer, body: JSON.parse(said) as Record<string, unknown> };
}
const chat = (content: string, more: object = {}) => ({
  ...{ model: MODEL, messages: [{ role: "user", content }], temperature: 0, max_tokens: 8 },
  ...more,
});
const STORY = "Write a long story about a dog and a cat.";

t.test(
  "the client for Python lists, chats, streams, completes, and meets typed errors",
  async (t) => {
    const told = (await client(python, [
      join(import.meta.dirname, "openai/clients/call.py"),
    ])) as Record<string, unknown>;
    t.match(told, {
      ...{ models: [MODEL], model: MODEL, answered_by: MODEL, chat: /\w/, completion: /\w/ },
      ...{ usage: 8, stream_usage: 8, usage_unasked: false },
      errors: {
        model: ["NotFoundError", 404, "model_not_found"],
        key: ["AuthenticationError", 401, "invalid_api_key"],
        context: ["BadRequestError", 400, "context_length_exceeded"],
        messages: ["BadRequestError", 400, "missing_messages"],
        image: ["BadRequestError", 400, "url_not_allowed"],
        embeddings: ["BadRequestError", 400, "unsupported_by_model"],
        tokens: ["BadRequestError", 400, "tokens_not_supported"],
        before: ["BadRequestError", 400, "unsupported_by_model"],
        kept: ["BadRequestError", 400, "not_kept"],
        search: ["BadRequestError", 400, "unsupported_by_model"],
      },
      ...{ response_usage: 8, response_status: ["incomplete", "max_output_tokens"] },
      ...{ response: told["chat"], response_streamed: [told["chat"], told["chat"]] },
      ...{ response_call: ["weather", true], response_after: true, response_schema: true },
      response_numbers: true,
    });
    const events = told["response_events"] as string[];
    t.same(
      events.filter((type, at) => type !== events[at - 1]),
      [
        ...["response.created", "response.in_progress", "response.output_item.added"],
        ...["response.content_part.added", "response.output_text.delta"],
        ...["response.output_text.done", "response.content_part.done"],
        ...["response.output_item.done", "response.incomplete"],
      ],
    );
    t.equal(told["streamed"], told["chat"], "token by token the same");
    t.ok(Number(told["pieces"]) > 1);
  },
);

t.test("the client for JavaScript does, and leaves a stream early", async (t) => {
  const told = (await client(process.execPath, [
    join(import.meta.dirname, "openai/clients/call.ts"),
  ])) as Record<string, unknown>;
  t.match(told, {
    ...{ models: [MODEL], chat: /\w/, aborted: 3 },
    refused: { status: 404, code: "model_not_found", type: "invalid_request_error", hasId: true },
  });
  t.equal(told["streamed"], told["chat"]);
  t.same([told["response"], told["responded"]], [told["chat"], told["chat"]]);
  const goneLine = () =>
    gateway.readCalls().find((line) => "outcome" in line && line.outcome === "client_gone");
  for (let tries = 0; tries < 5_000 && goneLine() === undefined; tries++) await sleep(20);
  const left = goneLine();
  t.match(left, { usage: { isExact: false } });
});

t.test("each call is on record with its tokens, and nothing of what was said", async (t) => {
  const before = gateway.readCalls().length;
  await ask({ body: chat("a"), headers: { "x-request-id": "r-1" } });
  await answerOf(open({ body: chat("a", { stream: true }) }));
  const read = () => gateway.readCalls().slice(before);
  const ends = () => read().filter(({ kind }) => kind === "end").length;
  for (let tries = 0; tries < 5_000 && ends() < 2; tries++) await sleep(20);
  const lines = read();
  const begun = lines.filter(({ kind }) => kind === "call");
  const ended = lines.filter((line) => line.kind === "end");
  const usage = { promptTokens: Number, completionTokens: 8, isExact: true };
  const call = { call: "chat/completions", deployment: "job-1", replica: "job-1-a1-replica" };
  t.match(begun, [call, call]);
  t.match(ended, [
    { status: 200, outcome: "answered", usage },
    { status: 200, outcome: "answered", usage },
  ]);
  t.equal(ended[0]?.usage?.promptTokens, ended[1]?.usage?.promptTokens);
  t.notMatch(JSON.stringify(lines), "content");
});

t.test("a stream comes piece by piece", async (t) => {
  const [from] = (await once(
    open({ body: chat(STORY, { stream: true, max_tokens: 40 }) }),
    "response",
  )) as [IncomingMessage];
  t.match(from.headers, { "content-type": /^text\/event-stream/, "cache-control": "no-cache" });
  const at: number[] = [];
  for await (const _ of from) at.push(performance.now());
  t.ok(at.length > 10, `${at.length} pieces`);
  t.ok((at.at(-1) ?? 0) - (at[0] ?? 0) > 100, "not all at the end");
});

t.test("who hangs up frees the engine at once, also before the first token", async (t) => {
  const long = "one two three four ".repeat(100);
  for (const [what, body, began] of [
    ["in a stream", chat(STORY, { stream: true, max_tokens: 80 }), true],
    ["without a stream", chat(STORY, { max_tokens: 400 }), false],
    ["while the prompt is read", chat(long, { stream: true, max_tokens: 80 }), false],
  ] as const) {
    // By processor time: a busy machine takes its time for either. llama.cpp looks once a second whether somebody still waits: whole calls take longer.
    const begunAt = replica.engineCpuMs();
    await Promise.all([drained(open({ body })), drained(open({ body }))]);
    const wholeMs = replica.engineCpuMs() - begunAt;
    const from = replica.engineCpuMs();
    const calls = [open({ body }), open({ body })];
    await (began ? Promise.all(calls.map((call) => once(call, "response"))) : sleep(150));
    for (const call of calls) call.destroy();
    t.match(await ask({ body: chat("a", { max_tokens: 1 }) }), { status: 200 }, what);
    const ms = replica.engineCpuMs() - from;
    t.ok(
      ms < wholeMs / 2,
      `${what}: another call was through after ${ms} ms of work, two whole ones take ${wholeMs}`,
    );
  }
});

type Told = {
  choices: {
    index: number;
    finish_reason: string;
    message: { content: unknown; tool_calls?: { function: { arguments: string } }[] };
    logprobs?: { content: { top_logprobs: unknown[] }[] };
  }[];
  usage: { prompt_tokens: number; completion_tokens: number };
};
type Completed = {
  choices: {
    text: string;
    logprobs: {
      tokens: string[];
      token_logprobs: number[];
      top_logprobs: Record<string, number>[];
      text_offset: number[];
    } | null;
  }[];
  usage: { completion_tokens: number };
};
/** What the last call used, once each call is on record with its end. */
async function lastUsage() {
  const lines = () => gateway.readCalls();
  const count = (kind: string) => lines().filter((line) => line.kind === kind).length;
  await untilFound("each call's end", () => count("call") > 0 && count("call") === count("end"));
  return lines().findLast((line) => line.kind === "end")?.usage;
}

t.test("each answer and each prompt of a call is counted", async (t) => {
  const one = (await ask({ body: chat("a", { max_tokens: 2 }) })).body as unknown as Told;
  const promptTokens = one.usage.prompt_tokens;
  for (const stream of [false, true]) {
    const { text: said } = await answerOf(
      open({ body: chat("a", { max_tokens: 2, n: 3, stream }) }),
    );
    const usage = { promptTokens, completionTokens: 6, isExact: true };
    t.match(await lastUsage(), usage, `three answers, stream: ${stream}`);
    if (stream)
      for (const index of [0, 1, 2]) t.match(said, `"index":${index},"delta":{"content":`);
    else
      t.same(
        (JSON.parse(said) as Told).choices.map(({ index }) => index),
        [0, 1, 2],
      );
  }
  const body = { model: MODEL, prompt: ["One two", "Red"], n: 2, max_tokens: 2, temperature: 0 };
  const { body: list } = await ask({ path: "/v1/completions", body });
  t.same(
    (list as unknown as Told).choices.map(({ index }) => index),
    [0, 1, 2, 3],
  );
  t.match(await lastUsage(), { promptTokens: 3, completionTokens: 8, isExact: true });
});

t.test("each field of the table is done by the engine, or refused by its name", async (t) => {
  const greedy = { model: MODEL, prompt: "a a a a a a a a", max_tokens: 4, temperature: 0 };
  const hot = { ...greedy, temperature: 2, seed: 7 };
  const complete = async (body: object) => {
    const { status, body: told } = await ask({ path: "/v1/completions", body });
    return { status, told: told as unknown as Completed };
  };
  const textOf = async (body: object) => (await complete(body)).told.choices?.[0]?.text;
  const [plain, drawn] = [await textOf(greedy), await textOf(hot)];
  const { told: known } = await complete({ ...greedy, max_tokens: 1, logprobs: 0 });
  const first = known.choices[0]?.logprobs?.tokens[0] ?? "";
  /** By field: whether the engine's answer shows it. */
  const shows: Record<string, () => Promise<boolean>> = {
    prompt: async () => (await textOf({ ...greedy, prompt: "One two three" })) !== plain,
    model: async () => (await complete({ ...greedy, model: "none" })).status === 404,
    temperature: async () => drawn !== plain,
    seed: async () =>
      (await textOf(hot)) === drawn && (await textOf({ ...hot, seed: 8 })) !== drawn,
    top_p: async () => (await textOf({ ...hot, top_p: 0 })) === plain,
    top_k: async () => (await textOf({ ...hot, top_k: 1 })) === plain,
    min_p: async () => (await textOf({ ...hot, min_p: 1 })) === plain,
    typical_p: async () => (await textOf({ ...hot, typical_p: 0.01 })) !== drawn,
    frequency_penalty: async () => (await textOf({ ...greedy, frequency_penalty: 2 })) !== plain,
    presence_penalty: async () => (await textOf({ ...greedy, presence_penalty: 2 })) !== plain,
    repeat_penalty: async () => (await textOf({ ...greedy, repeat_penalty: 5 })) !== plain,
    // The commonest tokens have the lowest numbers.
    logit_bias: async () => {
      const banned = Object.fromEntries(Array.from({ length: 1_000 }, (_, id) => [id, -100]));
      return (await textOf({ ...greedy, logit_bias: banned })) !== plain;
    },
    stop: async () => (await textOf({ ...greedy, stop: [first] })) === "",
    n: async () => (await complete({ ...greedy, n: 2 })).told.choices.length === 2,
    max_tokens: async () => known.usage.completion_tokens === 1,
    logprobs: async () => {
      const { told } = await complete({ ...greedy, logprobs: 2 });
      const said = told.choices[0]?.logprobs;
      return (
        said?.tokens.join("") === plain &&
        said?.token_logprobs.length === 4 &&
        said.top_logprobs.every((one, at) => Object.hasOwn(one, said.tokens[at] ?? "")) &&
        said.text_offset[1] === said.tokens[0]?.length
      );
    },
    stream: async () => {
      const body = { ...greedy, stream: true, logprobs: 0 };
      const { text: said } = await answerOf(open({ path: "/v1/completions", body }));
      return said.startsWith("data: ") && said.includes('"text_offset":[');
    },
    stream_options: async () => {
      const body = { ...greedy, stream: true, stream_options: { include_usage: true } };
      const { text: said } = await answerOf(open({ path: "/v1/completions", body }));
      return said.includes('"usage":{');
    },
  };
  t.same(Object.keys(shows).sort(), fieldsOf("completions", "llama.cpp").sort());
  for (const [name, isShown] of Object.entries(shows)) t.ok(await isShown(), name);
  const refused = { echo: true, suffix: "x", best_of: 3 };
  t.same(
    [...Object.keys(shows), ...Object.keys(refused)].sort(),
    Object.keys(OPENAI_FIELDS.completions).sort(),
  );
  for (const [name, value] of Object.entries(refused))
    t.match((await complete({ ...greedy, [name]: value })).told, {
      error: { code: "unsupported_by_model", param: name },
    });
  for (const top_logprobs of [undefined, 0, 2]) {
    const body = chat("a", { max_tokens: 1, logprobs: true, top_logprobs });
    const { choices } = (await ask({ body })).body as unknown as Told;
    t.equal(choices[0]?.logprobs?.content[0]?.top_logprobs.length, top_logprobs ?? 0);
  }
  const effort = await ask({ body: chat("a", { reasoning_effort: "low" }) });
  t.match(effort.body, { error: { code: "unsupported_by_model", param: "reasoning_effort" } });
});

t.test("no fault of a caller is one of the engine's", async (t) => {
  const content = (part: object) => ({ messages: [{ role: "user", content: [part] }] });
  const url = "data:image/png;base64,AAAA";
  const called = { id: "c", type: "function", function: { name: "f", arguments: "{no" } };
  for (const [body, param] of [
    [content({ type: "image_url", image_url: { url } }), /content\[0\].image_url/],
    [content({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }), /audio/],
    [content({ type: "text" }), /text/],
    [{ messages: [{ role: "king", content: "a" }] }, /role/],
    [{ messages: [{ content: "a" }] }, /role/],
    [{ messages: [{ role: "assistant", content: null, tool_calls: [called] }] }, /arguments/],
    [{ messages: [{ role: "user", content: null }] }, /content/],
    [{ tools: [{ type: "custom", custom: { name: "f" } }] }, /tools/],
    [{ max_tokens: -1 }, /max_tokens/],
    [{ response_format: { type: "json_schema", json_schema: { name: "a" } } }, /schema/],
  ] as const)
    t.match(await ask({ body: chat("a", body) }), {
      ...{ status: 400, body: { error: { type: "invalid_request_error", param } } },
    });
});

t.test("a talk that ends with the model's own words is answered anew", async (t) => {
  const messages = [{ role: "assistant", content: "Yes" }];
  const items = { type: "array", items: { type: "integer" } };
  const json_schema = { name: "x", schema: { type: "array", items } };
  // To write on would break the engine where a form is asked for.
  for (const more of [{}, { response_format: { type: "json_schema", json_schema } }]) {
    const { status, body } = await ask({ body: chat("", { ...more, messages, max_tokens: 2 }) });
    t.equal(status, 200);
    t.notMatch((body as unknown as Told).choices[0]?.message.content, /^Yes/);
  }
  t.match(await ask({ body: chat("a", { max_tokens: 1 }) }), { status: 200 });
});

t.test("a call that is demanded is one, and tools that nobody would see are refused", async (t) => {
  const parameters = {
    ...{ type: "object", required: ["city"], properties: { city: { $ref: "#/$defs/city" } } },
    $defs: { city: { enum: ["Paris", "Rome"] } },
  };
  const tools = [
    { type: "function", function: { name: "weather", parameters } },
    { type: "function", function: { name: "now" } },
  ];
  const named = { type: "function", function: { name: "weather" } };
  const asked = (more: object) => chat("Weather in Rome?", { tools, max_tokens: 40, ...more });
  const { body } = await ask({ body: asked({ tool_choice: named }) });
  const [choice] = (body as unknown as Told).choices;
  t.match(choice, {
    ...{ finish_reason: "stop", message: { content: null } },
    message: { tool_calls: [{ type: "function", function: { name: "weather" } }] },
  });
  const [called] = choice?.message.tool_calls ?? [];
  t.match(JSON.parse(called?.function.arguments ?? ""), { city: /^(Paris|Rome)$/ });
  const { text: said } = await answerOf(
    open({ body: asked({ tool_choice: "required", stream: true }) }),
  );
  t.match(said, /"tool_calls":\[\{"index":0,"id":"call_\w+","type":"function"/);
  t.match(said, /"finish_reason":"(tool_calls|length)"/);
  t.notMatch(said, /"content":"/, "nothing of it is text");
  t.match(await ask({ body: asked({}) }), {
    ...{ status: 400, body: { error: { code: "unsupported_by_model", param: "tools" } } },
  });
  t.match(await ask({ body: asked({ tool_choice: "none", max_tokens: 1 }) }), { status: 200 });
});

t.test("an address of the deployment's own needs no model, and knows no other key", async (t) => {
  const path = "/inference/job-1/v1/chat/completions";
  t.match(await ask({ path, body: chat("a", { model: undefined }) }), { status: 200 });
  t.match(await ask({ path, body: chat("a", { model: "whatever" }) }), { status: 200 });
  t.match(await ask({ path, key: "rpk_other", body: chat("a") }), { status: 401 });
  t.match(await ask({ path: "/inference/job-9/v1/models" }), { status: 401 });
  t.match(await ask({ path: "/v1/chat/completions", body: chat("a", { model: "job-1" }) }), {
    ...{ status: 200, body: { model: MODEL } },
  });
  t.match(await ask({ body: chat("a", { model: "echo" }) }), { status: 404 }, "a predictor");
});

t.test("what is no call is refused in the API's form", async (t) => {
  const of = async (asked: Asked) => {
    const { status, body } = await ask(asked);
    return [status, (body["error"] as { code: string }).code];
  };
  t.same(await of({ body: "{" }), [400, "invalid_json"]);
  t.same(await of({ body: `"${"a".repeat(5 * 1024 ** 2)}"` }), [400, "body_too_large"]);
  t.same(await of({ body: { messages: [{ role: "user", content: "a" }] } }), [
    400,
    "missing_model",
  ]);
  t.same(await of({ path: "/v1/slots" }), [404, "unknown_url"]);
  t.same(await of({ path: "/v1/chat/completions" }), [405, "method_not_supported"]);
  const { headers } = await ask({ path: "/v1/models", headers: { "x-request-id": "a b" } });
  t.match(headers["x-request-id"], /^[0-9a-f-]{36}$/, "a name that is not safe is not said again");
});

t.test("nothing else of the engine is reached, also from beside the gateway", async (t) => {
  const direct = async (method: string, path: string, body = "") => {
    const asked = request({ host: "127.0.0.1", port, method, path });
    asked.setHeader("content-length", Buffer.byteLength(body));
    asked.end(body);
    return await answerOf(asked);
  };
  for (const path of [
    ...["/slots", "/props", "/metrics", "/lora-adapters", "/", "/index.html", "/v1/models?x=1"],
    ...["/models", "/health/", "//health", "/v1/../slots"],
  ])
    t.equal((await direct("GET", path)).status, 404, path);
  for (const path of [
    ...["/completion", "/tokenize", "/detokenize", "/apply-template", "/infill", "/slots/0"],
    ...["/props", "/lora-adapters", "/models/load", "/v1/responses", "/v1/messages", "/embedding"],
    ...["/chat/completions", "/v1/rerank", "/v1/health"],
  ])
    t.equal((await direct("POST", path, "{}")).status, 404, path);
  t.match(JSON.parse((await direct("GET", "/health")).text), { status: "ok" });
  const plain = JSON.parse(
    (await direct("POST", "/v1/chat/completions", JSON.stringify(chat("a")))).text,
  ) as { usage: object };
  const hostile = { chat_template: "{{ 'x ' * 50 }}", n_predict: 1, id_slot: 0 };
  t.match(
    JSON.parse(
      (await direct("POST", "/v1/chat/completions", JSON.stringify(chat("a", hostile)))).text,
    ),
    { usage: { prompt_tokens: (plain.usage as { prompt_tokens: number }).prompt_tokens } },
    "a template of the caller's is none",
  );
});

t.test(
  "an engine that ends in a stream is told in the stream, and the agent is told why",
  async (t) => {
    const asked = open({ body: chat(STORY, { stream: true, max_tokens: 480 }) });
    const [from] = (await once(asked, "response")) as [IncomingMessage];
    const { stdout } = await run("pgrep", ["-P", String(replica.pid)]);
    process.kill(Number(stdout.trim().split("\n")[0]), "SIGKILL");
    const said = await text(from);
    t.match(
      said,
      /data: \{"error":\{"message":"the replica went away".*"code":"replica_unreachable"/,
    );
    t.equal(await replica.ended(), 1);
    t.match(replica.told().at(-1), {
      ...{ kind: "failed", reason: "payload_exited", message: /signal 9 \(SIGKILL\)/ },
    });
    t.match(await ask({ body: chat("a") }), {
      ...{ status: 502, headers: { "retry-after": "1" } },
      body: { error: { code: "replica_unreachable", type: "server_error" } },
    });
  },
);
