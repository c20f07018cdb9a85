/** Each engine and each field of each call: done, or refused by name. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  ENGINES_OF,
  OPENAI_FIELDS,
  OPENAI_PARTS,
  PASSED_OVER,
  useOf,
} from "@resontech/contracts/openai-fields";
import { OPENAI_ASKED, type OpenAiAsked } from "@resontech/contracts/openai-surface";
import fc from "fast-check";
import t from "tap";
import { FIELDS_FILE, fieldsPage } from "../../build/openai-fields-page.ts";
import { OpenAiError } from "../../src/openai/openai-error.ts";
import { readRequestBody, requestFor } from "../../src/openai/request-body.ts";

type Body = Readonly<Record<string, unknown>>;
type Engine = (typeof ENGINES_OF)[OpenAiAsked][number];

const tool = { type: "function", function: { name: "a" } };
const PIXEL = "data:image/png;base64,AAAA";
/** Without anything that is not needed. */
const BARE: Readonly<Record<OpenAiAsked, Body>> = {
  "chat/completions": { messages: [{ role: "user", content: "a" }] },
  completions: { prompt: "a" },
  embeddings: { input: "a" },
  responses: { input: "a" },
};
const GENERATING = {
  ...{ model: "m", frequency_penalty: 1, logit_bias: { 5: 1 }, n: 2, presence_penalty: 1, seed: 1 },
  ...{ stop: ["x"], stream: true, stream_options: { include_usage: true }, temperature: 1 },
  ...{ top_p: 0.5, min_p: 0.5, repeat_penalty: 2, top_k: 5, typical_p: 0.5 },
};
/** A value of each field that changes an answer. */
const WISHES: Readonly<Record<OpenAiAsked, Body>> = {
  "chat/completions": {
    ...GENERATING,
    messages: [{ role: "user", content: "b" }],
    ...{
      audio: { voice: "ash", format: "wav" },
      function_call: "auto",
      functions: [{ name: "a" }],
    },
    ...{ logprobs: true, max_completion_tokens: 5, max_tokens: 5, modalities: ["text", "audio"] },
    ...{ moderation: { model: "m" }, parallel_tool_calls: false, reasoning_effort: "low" },
    ...{ response_format: { type: "json_object" }, tool_choice: "required", tools: [tool] },
    ...{ top_logprobs: 2, verbosity: "low", web_search_options: {} },
  },
  completions: {
    ...{ ...GENERATING, prompt: "b", best_of: 3, echo: true, logprobs: 2, max_tokens: 5 },
    suffix: "end",
  },
  embeddings: { input: "b", model: "m", dimensions: 5, encoding_format: "base64" },
  responses: {
    ...{ input: "b", model: "m", access_programs: {}, background: true, context_management: [{}] },
    ...{ conversation: "c", image: {}, include: ["message.output_text.logprobs"] },
    ...{ instructions: "Be brief.", max_output_tokens: 5, moderation: {}, temperature: 1 },
    ...{ parallel_tool_calls: false, previous_response_id: "resp_1", prompt: { id: "p" } },
    ...{ reasoning: { effort: "low" }, stream: true, stream_options: {}, top_p: 0.5 },
    text: { format: { type: "json_object" } },
    ...{ tool_choice: "required", tools: [{ type: "function", name: "a" }], top_logprobs: 2 },
    truncation: "auto",
  },
};
/** As an engine is asked: of `/v1/responses` a chat. */
const ASKED: Body = {
  input: { messages: [{ role: "user", content: "b" }] },
  instructions: { messages: [{ role: "system", content: "Be brief." }] },
  max_output_tokens: { max_tokens: 5 },
  reasoning: { reasoning_effort: "low" },
  text: { response_format: { type: "json_object" } },
  tools: { tools: [tool] },
};
/** What a field makes sense with alone. */
const BESIDE: Readonly<Record<string, Body>> = {
  ...{ top_logprobs: { logprobs: true }, tool_choice: { tools: [tool] } },
};
const besides = (call: OpenAiAsked, name: string): Body => {
  if (call !== "responses") return BESIDE[name] ?? {};
  return name === "tool_choice" ? { tools: WISHES.responses["tools"] } : {};
};
const JUNK: readonly unknown[] = [
  ...["", "x", "-1", true, false, -1, 1.5, 0, 1e300, [], {}, [[]], [null], [1], [{}], { a: 1 }],
  ...[{ type: "x" }, ["a", 1], { role: "user" }],
];

function ask(call: OpenAiAsked, engine: Engine | null, body: unknown) {
  try {
    const said = readRequestBody(call, Buffer.from(JSON.stringify(body)));
    return requestFor(call, engine, said).body;
  } catch (error) {
    if (error instanceof OpenAiError) return error.refusal;
    throw error;
  }
}
const each = OPENAI_ASKED.flatMap((call) =>
  ENGINES_OF[call].flatMap((engine) =>
    Object.entries(OPENAI_FIELDS[call]).map(([name, field]) => ({ call, engine, name, field })),
  ),
);

t.test("the table has every field of OpenAI's own client", async (t) => {
  const resources = join(import.meta.dirname, "../../../../node_modules/openai/resources");
  for (const [call, file, type] of [
    ["chat/completions", "chat/completions/completions.d.ts", "ChatCompletionCreateParamsBase"],
    ["completions", "completions.d.ts", "CompletionCreateParamsBase"],
    ["embeddings", "embeddings.d.ts", "EmbeddingCreateParams"],
    ["responses", "responses/responses.d.ts", "ResponseCreateParamsBase"],
  ] as const) {
    const text = readFileSync(join(resources, file), "utf8");
    const from = text.indexOf(`export interface ${type}`);
    const body = text.slice(from, text.indexOf("\n}\n", from));
    const names = [...body.matchAll(/^ {4}(\w+)\??: /gm)].map(([, name = ""]) => name);
    t.ok(names.length > 4, file);
    const known = [...Object.keys(OPENAI_FIELDS[call]), ...PASSED_OVER[call]];
    t.same(
      names.filter((name) => !known.includes(name)),
      [],
      call,
    );
  }
});

t.test("a field is done, or refused by its name", async (t) => {
  for (const call of OPENAI_ASKED)
    t.same(
      Object.keys(WISHES[call]).sort(),
      Object.keys(OPENAI_FIELDS[call]).sort(),
      `${call}: each field is tried`,
    );
  for (const { call, engine, name, field } of each) {
    const wish = WISHES[call][name];
    const what = `${engine} ${call} ${name}`;
    const told = ask(call, engine, { ...BARE[call], ...besides(call, name), [name]: wish });
    if (useOf(field.uses, call, engine) === "refused")
      t.match(told, { status: 400, code: "unsupported_by_model", param: name }, what);
    else if (name === "max_completion_tokens") t.match(told, { max_tokens: wish }, what);
    else if (call === "responses" && name in ASKED) t.match(told, ASKED[name], what);
    else if (name === "stream_options") t.notOk("status" in told, what);
    else t.match(told, { [name]: wish }, what);
    const { neutral = [], neutralAs } = field;
    const same = [...neutral, ...(neutralAs === undefined ? [] : [1])];
    for (const value of [null, ...same]) {
      if (value === null && name in BARE[call]) continue;
      const without = ask(call, engine, { ...BARE[call], ...besides(call, name) });
      const asked = ask(call, engine, { ...BARE[call], ...besides(call, name), [name]: value });
      if (value === null || useOf(field.uses, call, engine) === "refused")
        t.same(asked, without, `${what}: ${JSON.stringify(value)} asks for nothing`);
    }
  }
});

t.test("what is passed over changes nothing, and reaches no engine", async (t) => {
  for (const call of OPENAI_ASKED)
    for (const engine of ENGINES_OF[call])
      for (const name of PASSED_OVER[call])
        t.same(
          ask(call, engine, { ...BARE[call], [name]: { any: "value" } }),
          ask(call, engine, BARE[call]),
        );
});

t.test("pictures and sounds are refused by their place where an engine takes none", async (t) => {
  const parts = {
    image_url: { type: "image_url", image_url: { url: PIXEL, detail: "low" } },
    input_audio: { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
  };
  for (const [type, uses] of Object.entries(OPENAI_PARTS))
    for (const engine of ENGINES_OF["chat/completions"]) {
      const part = parts[type as keyof typeof parts];
      const content = [{ type: "text", text: "a" }, part];
      const told = ask("chat/completions", engine, { messages: [{ role: "user", content }] });
      if (useOf(uses, "chat/completions", engine) === "refused")
        t.match(told, {
          ...{ status: 400, code: "unsupported_by_model" },
          param: `messages[0].content[1].${type}`,
        });
      else t.match(told, { messages: [{ content }] });
    }
});

t.test("no value of any field is a fault of anybody else's", async (t) => {
  for (const { call, engine, name } of each)
    for (const value of JUNK) {
      const told = ask(call, engine, { ...BARE[call], ...besides(call, name), [name]: value });
      if (!("status" in told)) continue;
      t.match(told, { status: 400, type: "invalid_request_error", code: /^[a-z_]+$/ });
      t.ok(
        String((told as { param?: string }).param).startsWith(name) || name === "n",
        `${name} ${JSON.stringify(value)}: ${JSON.stringify(told)}`,
      );
    }
  const isAnswered = (call: OpenAiAsked, body: Body) => {
    const told = ask(call, null, body);
    return !("status" in told) || told["status"] === 400;
  };
  fc.assert(
    fc.property(
      fc.constantFrom(...OPENAI_ASKED),
      fc.dictionary(
        fc.constantFrom(...OPENAI_ASKED.flatMap((call) => Object.keys(OPENAI_FIELDS[call]))),
        fc.jsonValue({ maxDepth: 4 }),
      ),
      (call, more) => isAnswered(call, { ...BARE[call], ...more }),
    ),
  );
});

t.test("numbers have their bounds", async (t) => {
  for (const { call, engine, name, field } of each) {
    const { shape } = field;
    if (shape.kind !== "integer" && shape.kind !== "number") continue;
    for (const value of [shape.least - 1, shape.most + 1])
      t.match(
        ask(call, engine, { ...BARE[call], ...besides(call, name), [name]: value }),
        { status: 400, code: "invalid_value", param: name },
        `${name} ${value}`,
      );
  }
  for (const [call, body, param] of [
    ["completions", { max_tokens: 0 }, "max_tokens"],
    ["chat/completions", { max_tokens: 5, max_completion_tokens: 6 }, "max_tokens"],
    ["chat/completions", { top_logprobs: 2 }, "top_logprobs"],
  ] as const)
    t.match(ask(call, "vllm", { ...BARE[call], ...body }), {
      ...{ status: 400, code: "invalid_value", param },
    });
  t.match(ask("completions", "vllm", { prompt: "a", max_tokens: 0, echo: true }), {
    ...{ max_tokens: 0, echo: true },
  });
});

t.test("values with parts of their own are looked into", async (t) => {
  const of = (body: Body) =>
    ask("chat/completions", null, { ...BARE["chat/completions"], ...body });
  const schema = (json_schema: unknown) => ({
    response_format: { type: "json_schema", json_schema },
  });
  for (const [body, code, param] of [
    [{ response_format: "json" }, "invalid_type", "response_format"],
    [{ response_format: { type: "xml" } }, "invalid_value", "response_format.type"],
    [{ response_format: { type: "text", x: 1 } }, "unknown_parameter", "response_format.x"],
    [schema(undefined), "invalid_type", "response_format.json_schema"],
    [schema({ name: "a" }), "invalid_type", "response_format.json_schema.schema"],
    [schema({ schema: true }), "invalid_type", "response_format.json_schema.schema"],
    [schema({ schema: {}, x: 1 }), "unknown_parameter", "response_format.json_schema.x"],
    [{ stop: [""] }, "invalid_type", "stop"],
    [{ stop: 5 }, "invalid_type", "stop"],
    [{ stop: Array(17).fill("a") }, "too_large", "stop"],
    [{ logit_bias: { a: 1 } }, "invalid_value", "logit_bias"],
    [{ logit_bias: { 1: "a" } }, "invalid_value", "logit_bias"],
    [{ logit_bias: { 1: 101 } }, "invalid_value", "logit_bias"],
    [{ logit_bias: [1] }, "invalid_type", "logit_bias"],
    [{ stream_options: { x: 1 } }, "unknown_parameter", "stream_options.x"],
    [{ stream_options: { include_usage: 1 } }, "invalid_type", "stream_options.include_usage"],
  ] as const)
    t.match(of(body), { status: 400, code, param }, JSON.stringify(body));
});

t.test("the document has the table", async (t) => {
  const page = readFileSync(FIELDS_FILE, "utf8");
  t.equal(page, fieldsPage(page), "else: node parts/inference-gateway/build/openai-fields-page.ts");
});
