/** `/v1/responses`: a chat is asked, and its answer goes on in the other form, whole and in events. */
import t from "tap";
import { OpenAiError } from "../../../src/openai/openai-error.ts";
import { readRequestBody, requestFor } from "../../../src/openai/request-body.ts";
import type { AnswerForm } from "../../../src/openai/answer-form.ts";

type Body = Readonly<Record<string, unknown>>;
type Event = Body & { type: string; sequence_number: number };

function asked(body: Body) {
  const said = readRequestBody("responses", Buffer.from(JSON.stringify({ model: "m", ...body })));
  return requestFor("responses", "vllm", said);
}
function refusalOf(body: Body) {
  try {
    asked(body);
    return null;
  } catch (error) {
    if (error instanceof OpenAiError) return error.refusal;
    throw error;
  }
}
const form = (body: Body = {}): AnswerForm => asked({ input: "a", ...body }).form!;
const eventsOf = (text: string): Event[] =>
  text
    .split("\n\n")
    .filter((event) => event !== "")
    .map((event) => {
      const [name = "", data = ""] = event.split("\n");
      const read = JSON.parse(data.slice("data: ".length)) as Event;
      if (name !== `event: ${read.type}`) throw new Error(`${name} is not ${read.type}`);
      return read;
    });
const chunk = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, ...more }] })}\n\n`;
const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };
const END = `data: ${JSON.stringify({ choices: [], usage: USAGE })}\n\ndata: [DONE]\n\n`;
const call = (index: number, id: string | null, name: string | null, text: string) => {
  const named = name === null ? {} : { name };
  const one = { index, ...(id === null ? {} : { id }), function: { ...named, arguments: text } };
  return chunk({ tool_calls: [one] });
};

t.test("items become the messages of a chat", async (t) => {
  const { body } = asked({
    instructions: "Be brief.",
    input: [
      { role: "developer", content: "Say it in German." },
      { type: "message", role: "user", content: [{ type: "input_text", text: "Weather?" }] },
      { type: "reasoning", id: "rs_1", summary: [], content: [] },
      {
        ...{ type: "message", id: "msg_1", role: "assistant", status: "completed" },
        content: [{ type: "output_text", text: "I look.", annotations: [], logprobs: [] }],
      },
      { type: "function_call", id: "fc_1", call_id: "c1", name: "w", arguments: '{"a":1}' },
      { type: "function_call", call_id: "c2", name: "w", arguments: "", status: "completed" },
      { type: "function_call_output", call_id: "c1", output: "rain" },
      {
        ...{ type: "function_call_output", call_id: "c2" },
        output: [{ type: "input_text", text: "sun" }],
      },
    ],
  });
  const made = (id: string, given: string) => ({
    ...{ id, type: "function", function: { name: "w", arguments: given } },
  });
  t.same(body["messages"], [
    { role: "system", content: "Be brief." },
    { role: "developer", content: "Say it in German." },
    { role: "user", content: [{ type: "text", text: "Weather?" }] },
    {
      ...{ role: "assistant", content: [{ type: "text", text: "I look." }] },
      tool_calls: [made("c1", '{"a":1}'), made("c2", "{}")],
    },
    { role: "tool", content: "rain", tool_call_id: "c1" },
    { role: "tool", content: [{ type: "text", text: "sun" }], tool_call_id: "c2" },
  ]);
});

t.test("what is wrong is told by its place in what was sent", async (t) => {
  const part = (one: object) => ({ input: [{ role: "user", content: [one] }] });
  for (const [body, code, param] of [
    [{}, "missing_input", "input"],
    [{ input: [] }, "missing_input", "input"],
    [{ input: 5 }, "missing_input", "input"],
    [{ input: ["a"] }, "invalid_type", "input[0]"],
    [{ input: [{ type: "item_reference", id: "msg_1" }] }, "not_kept", "input[0]"],
    [{ input: [{ type: "computer_call" }] }, "unsupported_content", "input[0].type"],
    [{ input: [{ role: "user", content: "a", x: 1 }] }, "unknown_parameter", "input[0].x"],
    [{ input: [{ role: "king", content: "a" }] }, "invalid_value", "input"],
    [part({ type: "input_file" }), "unsupported_content", "input[0].content[0].type"],
    [part({ type: "input_image", image_url: "http://h/" }), "url_not_allowed", "input"],
    [{ input: "a", tools: [{ type: "web_search" }] }, "unsupported_by_model", "tools[0].type"],
    [{ input: "a", tools: [{ type: "function", name: "a b" }] }, "invalid_type", "tools[0].name"],
    [{ input: "a", max_output_tokens: 0 }, "invalid_value", "max_output_tokens"],
    [{ input: "a", reasoning: { effort: "wild" } }, "invalid_value", "reasoning.effort"],
    [{ input: "a", reasoning: { summary: "auto" } }, "unsupported_by_model", "reasoning.summary"],
    [{ input: "a", text: { verbosity: "low" } }, "unsupported_by_model", "text.verbosity"],
    [{ input: "a", text: { format: { type: "xml" } } }, "invalid_value", "text.format.type"],
    [
      { input: "a", text: { format: { type: "json_schema", name: "a" } } },
      ...(["invalid_type", "text.format.schema"] as const),
    ],
    [
      { input: "a", previous_response_id: "resp_1" },
      "unsupported_by_model",
      "previous_response_id",
    ],
    [{ input: "a", messages: [] }, "unknown_parameter", "messages"],
  ] as const)
    t.match(refusalOf(body), { status: 400, code, param }, JSON.stringify(body));
});

t.test("a whole answer has its items, and says where it was cut", async (t) => {
  const told = form({ instructions: "Be brief." }).whole({
    choices: [
      {
        finish_reason: "length",
        message: {
          ...{ content: "Hi", reasoning_content: "hm" },
          tool_calls: [{ id: "c1", type: "function", function: { name: "w", arguments: "{" } }],
        },
      },
    ],
    usage: { ...USAGE, prompt_tokens_details: { cached_tokens: 1 } },
  });
  t.match(told, {
    ...{ id: /^resp_/, object: "response", status: "incomplete", model: "m", store: false },
    ...{ incomplete_details: { reason: "max_output_tokens" }, instructions: "Be brief." },
    output: [
      { type: "reasoning", status: "completed", content: [{ type: "reasoning_text", text: "hm" }] },
      { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hi" }] },
      { type: "function_call", call_id: "c1", name: "w", arguments: "{", status: "incomplete" },
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  });
  t.match(form().whole({ choices: [{ finish_reason: "stop", message: { content: "" } }] }), {
    ...{ status: "completed", output: [{ type: "message", content: [{ text: "" }] }] },
  });
});

t.test("a stream has the events of each item, in their order", async (t) => {
  const events = form().events();
  const text = [
    chunk({ role: "assistant", content: null }),
    chunk({ reasoning: "hm" }),
    chunk({ content: "I " }) + chunk({ content: "look." }),
    call(0, "c1", "w", ""),
    call(0, null, null, '{"a"'),
    call(1, "c2", "v", "{}"),
    call(0, null, null, ":1}"),
    chunk({}, { finish_reason: "tool_calls" }),
    END,
  ]
    .map((piece) => events.push(piece))
    .join("");
  const told = eventsOf(text);
  t.same(
    told.map(({ sequence_number: at }) => at),
    told.map((_, at) => at),
  );
  const [added, done] = ["response.output_item.added", "response.output_item.done"];
  const part = (kind: string, pieces: number) => [
    ...[added, "response.content_part.added", ...Array(pieces).fill(`${kind}.delta`)],
    ...[`${kind}.done`, "response.content_part.done", done],
  ];
  const given = "response.function_call_arguments";
  t.same(
    told.map(({ type }) => type),
    [
      ...["response.created", "response.in_progress"],
      ...[...part("response.reasoning_text", 1), ...part("response.output_text", 2)],
      ...[added, `${given}.delta`, added, `${given}.delta`, `${given}.delta`],
      ...[`${given}.done`, done, `${given}.done`, done, "response.completed"],
    ],
  );
  const { response } = told.at(-1) as unknown as { response: { output: Body[] } };
  t.match(response, {
    ...{ status: "completed", usage: { output_tokens: 2 } },
    output: [
      { type: "reasoning" },
      { type: "message", content: [{ text: "I look." }] },
      { type: "function_call", call_id: "c1", arguments: '{"a":1}', status: "completed" },
      { type: "function_call", call_id: "c2", arguments: "{}", status: "completed" },
    ],
  });
  const items = told.filter(({ type }) => type === done).map(({ item }) => item);
  t.same(items, response.output, "each as it was done");
  t.equal(events.push(chunk({ content: "more" })), "", "nothing comes after the end");
});

t.test("a stream that says nothing, or breaks off, ends as a response does", async (t) => {
  t.match(
    eventsOf(form().events().push(END)).map(({ type }) => type),
    ["response.created", "response.in_progress", "response.output_item.added"],
  );
  const broken = form().events();
  const error = { error: { message: "it failed", type: "server_error", code: "engine_failed" } };
  const text = broken.push(chunk({ content: "a" }) + `data: ${JSON.stringify(error)}\n\n`);
  t.match(eventsOf(text).slice(-2), [
    { type: "error", code: "engine_failed", message: "it failed", param: null },
    { type: "response.failed", response: { status: "failed", error: { code: "server_error" } } },
  ]);
  t.equal(broken.push(END), "");
  const gone = { status: 502, type: "server_error", code: "replica_unreachable", message: "gone" };
  t.match(
    eventsOf(
      form()
        .events()
        .broken({ ...gone, type: "server_error" }),
    ).at(-2),
    {
      ...{ type: "error", code: "replica_unreachable" },
    },
  );
});
