/** A conversation with a deployment: what is sent, what comes back, and the same as code. */
import { Script } from "node:vm";
import t from "tap";
import { eventsIn, NO_ANSWER, withChunk } from "../src/pages/inference/chat/chat-answer.ts";
import { chatCode, pythonLiteral } from "../src/pages/inference/chat/chat-code.ts";
import { chatBody, NO_SETTINGS, type Turn } from "../src/pages/inference/chat/chat-request.ts";

const HELLO: Turn[] = [{ role: "user", text: "Hello" }];

t.test("what nobody set is left to the model", async (t) => {
  t.same(chatBody("job-1", HELLO, NO_SETTINGS), {
    model: "job-1",
    messages: [{ role: "user", content: "Hello" }],
  });
});

t.test("settings become fields of the API, and what is no JSON is said", async (t) => {
  const settings = {
    ...{ system: "Be brief.", temperature: "0.2", maxTokens: "50" },
    ...{ schema: '{"type":"object"}', tools: '[{"type":"function"}]' },
  };
  t.same(chatBody("job-1", HELLO, settings), {
    model: "job-1",
    messages: [
      { role: "system", content: "Be brief." },
      { role: "user", content: "Hello" },
    ],
    ...{ temperature: 0.2, max_tokens: 50, tools: [{ type: "function" }] },
    response_format: {
      type: "json_schema",
      json_schema: { name: "answer", strict: true, schema: { type: "object" } },
    },
  });
  t.throws(() => chatBody("job-1", HELLO, { ...settings, schema: "{" }), {
    message: /^the JSON schema is no JSON/,
  });
});

t.test("a tool that the model asked for is answered by its id", async (t) => {
  const turns: Turn[] = [
    ...HELLO,
    { role: "assistant", text: "", toolCalls: [{ id: "c1", name: "now", arguments: "{}" }] },
    { role: "tool", callId: "c1", text: "noon" },
  ];
  t.same(chatBody("job-1", turns, NO_SETTINGS).messages.slice(1), [
    {
      ...{ role: "assistant", content: null },
      tool_calls: [{ id: "c1", type: "function", function: { name: "now", arguments: "{}" } }],
    },
    { role: "tool", tool_call_id: "c1", content: "noon" },
  ]);
});

t.test("events are whole, wherever the stream is cut", async (t) => {
  const stream = 'data: {"a":1}\n\n: a comment\n\ndata: {"b":2}\r\n\r\ndata: [DONE]\n\n';
  for (let cut = 0; cut <= stream.length; cut++) {
    const first = eventsIn(stream.slice(0, cut));
    const second = eventsIn(first.rest + stream.slice(cut));
    t.same([...first.events, ...second.events], ['{"a":1}', '{"b":2}', "[DONE]"], String(cut));
    t.equal(second.rest, "");
  }
});

t.test("an answer grows by its chunks, tools and thoughts among them", async (t) => {
  const call = (index: number, more: object) => ({
    choices: [{ delta: { tool_calls: [{ index, ...more }] } }],
  });
  const answer = [
    { choices: [{ delta: { reasoning: "Hm. " } }] },
    { choices: [{ delta: { reasoning_content: "Yes." } }] },
    { choices: [{ delta: { content: "Good " } }] },
    { choices: [{ delta: { content: "day" }, finish_reason: null }] },
    call(0, { id: "c1", function: { name: "now", arguments: "" } }),
    call(1, { id: "c2", function: { name: "where", arguments: "{" } }),
    call(1, { function: { arguments: "}" } }),
    { choices: [{ delta: {}, finish_reason: "tool_calls" }] },
    { choices: [], usage: { prompt_tokens: 7, completion_tokens: 3 } },
  ].reduce(withChunk, NO_ANSWER);
  t.same(answer, {
    ...{ text: "Good day", reasoning: "Hm. Yes.", finish: "tool_calls" },
    toolCalls: [
      { id: "c1", name: "now", arguments: "" },
      { id: "c2", name: "where", arguments: "{}" },
    ],
    tokens: { prompt: 7, completion: 3 },
  });
});

t.test("code says the same call in each language, with no key in it", async (t) => {
  const hostile: Turn[] = [{ role: "user", text: 'it\'s $HOME `id`\nEND\n"quoted" \\ ${x}' }];
  const body = chatBody("job-1", hostile, { ...NO_SETTINGS, temperature: "0.5" });
  const base = "https://appliance:8000/inference/job-1/v1";
  const curl = chatCode("curl", base, body);
  t.match(curl, `  --data @- ${base}/chat/completions <<'END'\n`);
  const sent = curl.split("<<'END'\n")[1]!.split("\nEND")[0]!;
  t.same(JSON.parse(sent), body, "a shell reads nothing of it");
  const script = chatCode("JavaScript", base, body);
  t.doesNotThrow(
    () => new Script(`(async () => {${script.replace(/^import.*$/m, "")}})`),
    "it is JavaScript",
  );
  t.match(chatCode("Python", base, body), `    base_url="${base}",\n`);
  for (const code of [curl, script]) t.match(code, "RESON_INFERENCE_API_KEY");
});

t.test("Python has words of its own for null and truth", async (t) => {
  t.equal(pythonLiteral(null), "None");
  t.equal(
    pythonLiteral({ a: [true, 1.5, "x\n"], b: {} }),
    '{\n    "a": [\n        True,\n        1.5,\n        "x\\n",\n    ],\n    "b": {},\n}',
  );
});
