/** What of a client's body an engine sees. */
import type { OpenAiCall } from "@resontech/contracts/openai-surface";
import t from "tap";
import { OpenAiError } from "../../src/openai/openai-error.ts";
import { readRequestBody, requestFor } from "../../src/openai/request-body.ts";

const messages = [{ role: "user", content: "a" }];
const read = (value: unknown, call: OpenAiCall = "chat/completions") =>
  requestFor(
    call,
    null,
    readRequestBody(call, Buffer.from(typeof value === "string" ? value : JSON.stringify(value))),
  );
function refusalOf(value: unknown, call?: OpenAiCall) {
  try {
    read(value, call);
    return null;
  } catch (error) {
    return error instanceof OpenAiError ? error.refusal : error;
  }
}

t.test("fields that nobody knows are refused by name, and none reaches an engine", async (t) => {
  for (const name of [
    ...["chat_template", "chat_template_kwargs", "prompt_embeds", "n_discard", "media_io_kwargs"],
    ...["chat_parser", "cache_salt", "id_slot", "lora", "grammar", "constructor", "toString"],
    ...["prompt", "input", "max_output_tokens"],
  ])
    t.match(
      refusalOf({ messages, [name]: 1 }),
      { status: 400, code: "unknown_parameter", param: name },
      name,
    );
  t.match(refusalOf('{"messages":[{"role":"user","content":"a"}],"__proto__":1}'), {
    ...{ code: "unknown_parameter", param: "__proto__" },
  });
  t.same(read({ model: "m", messages, temperature: 0, user: "u", seed: null }), {
    ...{ model: "m", isStream: false, wantsUsage: false },
    body: { model: "m", messages, temperature: 0 },
  });
});

t.test("usage is always asked for, and whether the client did is known", async (t) => {
  const usage = { stream_options: { include_usage: true } };
  t.match(read({ messages, stream: true }), { wantsUsage: false, isStream: true, body: usage });
  t.match(read({ messages, stream: true, ...usage }), { wantsUsage: true, body: usage });
  t.notOk("stream_options" in read({ messages, ...usage }).body, "without a stream there is none");
  t.match(read({ messages, max_completion_tokens: 5 }).body, { max_tokens: 5 });
});

t.test("what is wrong is told with its code and its place", async (t) => {
  const image = (url: unknown) => ({
    messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }],
  });
  for (const [value, code, param] of [
    ["", "invalid_json"],
    ["{", "invalid_json"],
    ["[]", "invalid_json"],
    [`{"messages":${"[".repeat(70)}${"]".repeat(70)}}`, "invalid_json"],
    ["[".repeat(200_000), "invalid_json"],
    [{}, "missing_messages", "messages"],
    [{ messages: [] }, "missing_messages", "messages"],
    [{ messages: ["a"] }, "invalid_type", "messages[0]"],
    [{ messages, model: 5 }, "invalid_type", "model"],
    [{ messages, stream: "yes" }, "invalid_type", "stream"],
    [image("https://h/x.png"), "url_not_allowed", "messages[0].content[0].image_url"],
    [image("file:///etc/passwd"), "url_not_allowed"],
    [image(undefined), "url_not_allowed"],
    [{ messages: [{ role: "user", content: [{ type: "video_url" }] }] }, "unsupported_content"],
    [`{"messages":[{"role":"user","content":"\\ud800"}]}`, "invalid_json"],
    [{ messages, tools: ["a".repeat(300_000)] }, "too_large", "tools"],
  ] as const)
    t.match(refusalOf(value), { status: 400, code, ...(param === undefined ? {} : { param }) });
  t.equal(refusalOf(image("data:image/png;base64,AA==")), null);
  t.throws(() => readRequestBody("completions", Buffer.from([0x7b, 0xff, 0x7d])));
});

t.test("answers are asked for in a number that an engine is asked for", async (t) => {
  for (const n of [0, -1, 1.5, "2", true, 65, 1e9])
    t.match(refusalOf({ messages, n }), { code: "invalid_type", param: "n" }, String(n));
  for (const n of [null, 1, 64]) t.equal(refusalOf({ messages, n }), null, String(n));
  const of = (body: object) => refusalOf(body, "completions");
  for (const prompt of ["a", "", [1, 2], ["a", "b"], [[1], [2, 3]], ["a", [1]]])
    t.equal(of({ prompt }), null, JSON.stringify(prompt));
  for (const prompt of [undefined, null, 5, [], {}, [["a"]], ["a", 1], [[]], [{}]])
    t.match(of({ prompt }), { code: "invalid_type", param: "prompt" }, JSON.stringify(prompt));
  t.match(of({ prompt: Array(257).fill("a") }), { code: "too_large", param: "prompt" });
  t.match(of({ prompt: ["a", "b", "c", "d", "e"], n: 64 }), { code: "too_large" });
});

t.test("tools that no engine could call are refused with their place", async (t) => {
  const tool = (name: unknown, more: object = {}) => ({
    ...{ type: "function", function: { name, ...more } },
  });
  const named = (name: string) => ({ type: "function", function: { name } });
  const tools = [tool("a"), tool("b")];
  for (const body of [
    ...[{ tools: [] }, { tools: null }, { tools }, { tools, parallel_tool_calls: false }],
    ...["none", "auto", "required", named("b"), null].map((choice) => ({
      tools,
      tool_choice: choice,
    })),
    { tool_choice: "auto" },
    { tools: [tool("a", { parameters: { type: "object" } })] },
  ])
    t.equal(refusalOf({ messages, ...body }), null, JSON.stringify(body));
  for (const [body, code, param] of [
    [{ tools: {} }, "invalid_type", "tools"],
    [{ tools: ["a"] }, "invalid_type", "tools[0]"],
    [{ tools: [{ type: "custom" }] }, "unsupported_by_model", "tools[0].type"],
    [{ tools: [tool("a b")] }, "invalid_type", "tools[0].function.name"],
    [{ tools: [tool("a"), tool("a")] }, "invalid_type", "tools[1]"],
    [{ tools: [tool("a", { parameters: [] })] }, "invalid_type", "tools[0].function.parameters"],
    [{ tools: Array.from({ length: 129 }, (_, at) => tool(`f${at}`)) }, "too_large", "tools"],
    [{ tools, tool_choice: "always" }, "invalid_type", "tool_choice"],
    [{ tools, tool_choice: named("c") }, "invalid_type", "tool_choice"],
    [{ tools, tool_choice: { type: "allowed_tools" } }, "unsupported_by_model", "tool_choice"],
    [{ tool_choice: "required" }, "invalid_type", "tool_choice"],
    [{ tools: [], tool_choice: named("a") }, "invalid_type", "tool_choice"],
    [{ tools, parallel_tool_calls: "no" }, "invalid_type", "parallel_tool_calls"],
    [{ tools: [{ ...tool("a"), x: 1 }] }, "unknown_parameter", "tools[0].x"],
    [{ tools: [tool("a", { arguments: {} })] }, "unknown_parameter", "tools[0].function.arguments"],
    [{ tools: [tool("a", { strict: 1 })] }, "invalid_type", "tools[0].function.strict"],
  ] as const)
    t.match(refusalOf({ messages, ...body }), { status: 400, code, param }, JSON.stringify(body));
});

t.test("embeddings take text alone", async (t) => {
  const of = (input: unknown) => refusalOf({ model: "m", input }, "embeddings");
  t.equal(of("a"), null);
  t.equal(of(["a", "b"]), null);
  t.match(of([1, 2]), { code: "tokens_not_supported" });
  t.match(of([[1], [2]]), { code: "tokens_not_supported" });
  t.match(of([]), { code: "invalid_type" });
  t.match(of(["a", 1]), { code: "invalid_type" });
  t.match(of(Array(2_049).fill("a")), { code: "too_large", param: "input" });
});
