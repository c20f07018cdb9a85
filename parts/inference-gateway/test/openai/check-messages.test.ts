/** Messages of every shape: read as engines take them, or refused with their place. No fault of a caller's reaches an engine. */
import fc from "fast-check";
import t from "tap";
import { readMessages } from "../../src/openai/check-messages.ts";
import { OpenAiError } from "../../src/openai/openai-error.ts";

const user = { role: "user", content: "a" };
const call = (more: object = {}, made: object = {}) => ({
  role: "assistant",
  content: null,
  tool_calls: [
    { id: "c", type: "function", function: { name: "f", arguments: "{}", ...made }, ...more },
  ],
});
const answer = { role: "tool", tool_call_id: "c", content: "x" };
const said = (content: unknown, role = "user") => [{ role, content }];

function refusalOf(messages: unknown) {
  try {
    readMessages(messages);
    return null;
  } catch (error) {
    if (error instanceof OpenAiError) return error.refusal;
    throw error;
  }
}

t.test("what engines break over is refused, with its place", async (t) => {
  const at = (place: string) => `messages[0]${place}`;
  for (const [messages, code, param] of [
    [undefined, "missing_messages", "messages"],
    [[], "missing_messages", "messages"],
    [{}, "missing_messages", "messages"],
    [["a"], "invalid_type", at("")],
    [[null], "invalid_type", at("")],
    [[{ content: "a" }], "invalid_value", at(".role")],
    [said("a", "king"), "invalid_value", at(".role")],
    [[{ role: 5, content: "a" }], "invalid_value", at(".role")],
    [[{ role: "function", name: "f", content: "a" }], "unsupported_by_model", at(".role")],
    [[{ role: "user" }], "missing_content", at(".content")],
    [said(null), "missing_content", at(".content")],
    [said(null, "system"), "missing_content", at(".content")],
    [said(null, "assistant"), "missing_content", at(".content")],
    [said(5), "invalid_type", at(".content")],
    [said({ text: "a" }), "invalid_type", at(".content")],
    [said([]), "invalid_type", at(".content")],
    [said(["a"]), "invalid_type", at(".content[0]")],
    [said([{ type: "text" }]), "invalid_type", at(".content[0].text")],
    [said([{ type: "text", text: 5 }]), "invalid_type", at(".content[0].text")],
    [said([{ type: 5 }]), "unsupported_content", at(".content[0].type")],
    [said([{ type: "file", file: {} }]), "unsupported_content", at(".content[0].type")],
    [
      said([{ type: "image_url", image_url: { url: "data:," } }], "system"),
      ...(["unsupported_content", at(".content[0].type")] as const),
    ],
    [
      said([{ type: "image_url", image_url: { url: "http://h/" } }]),
      ...(["url_not_allowed", at(".content[0].image_url")] as const),
    ],
    [
      said([{ type: "image_url", image_url: { url: "data:text/html,a" } }]),
      ...(["invalid_value", at(".content[0].image_url.url")] as const),
    ],
    [
      said([{ type: "input_audio", input_audio: "AAAA" }]),
      ...(["invalid_type", at(".content[0].input_audio")] as const),
    ],
    [
      said([{ type: "input_audio", input_audio: { data: "?", format: "wav" } }]),
      ...(["invalid_type", at(".content[0].input_audio.data")] as const),
    ],
    [
      said([{ type: "input_audio", input_audio: { data: "AAAA", format: "midi" } }]),
      ...(["invalid_value", at(".content[0].input_audio.format")] as const),
    ],
    [[{ ...user, name: 5 }], "invalid_type", at(".name")],
    [[{ ...user, x: 1 }], "unknown_parameter", at(".x")],
    [[{ ...user, tool_calls: [] }], "unknown_parameter", at(".tool_calls")],
    [[{ ...call(), function_call: { name: "f" } }], "unsupported_by_model", at(".function_call")],
    [[{ ...call(), audio: { id: "a" } }], "unknown_parameter", at(".audio")],
    [[{ ...call(), tool_calls: {} }], "invalid_type", at(".tool_calls")],
    [[{ ...call(), tool_calls: ["a"] }], "invalid_type", at(".tool_calls[0]")],
    [[call({ type: "custom" })], "unsupported_by_model", at(".tool_calls[0].type")],
    [[call({ id: 5 })], "invalid_type", at(".tool_calls[0].id")],
    [[call({ function: "f" })], "invalid_type", at(".tool_calls[0].function")],
    [[call({}, { name: 5 })], "invalid_type", at(".tool_calls[0].function.name")],
    [[call({}, { arguments: {} })], "invalid_type", at(".tool_calls[0].function.arguments")],
    [[call({}, { arguments: "{no" })], "invalid_value", at(".tool_calls[0].function.arguments")],
    [[call({}, { arguments: "[1]" })], "invalid_value", at(".tool_calls[0].function.arguments")],
    [[answer], "invalid_value", at(".tool_call_id")],
    [[call(), { ...answer, tool_call_id: "d" }], "invalid_value", "messages[1].tool_call_id"],
    [[call(), { role: "tool", content: "x" }], "invalid_value", "messages[1].tool_call_id"],
    [[call(), { ...answer, content: null }], "missing_content", "messages[1].content"],
  ] as const)
    t.match(refusalOf(messages), { status: 400, code, param }, JSON.stringify(messages));
});

t.test("what clients send is read in one form", async (t) => {
  const rain = { ...answer, content: [{ type: "text", text: "rain" }] };
  for (const messages of [
    [user],
    [{ role: "developer", content: "a" }, { role: "system", content: "b", name: "n" }, user],
    [user, call(), rain, { role: "assistant", content: "It rains." }, user],
    said([
      { type: "text", text: "a" },
      { type: "image_url", image_url: { url: "data:image/png;base64,AA==", detail: "low" } },
    ]),
  ])
    t.same(readMessages(messages), messages);
  // As OpenAI's own client writes an answer back.
  const dumped = { role: "assistant", content: null, refusal: "No.", annotations: [] };
  const empty = { audio: null, function_call: null, tool_calls: null };
  t.same(readMessages([user, { ...dumped, ...empty }]), [
    user,
    { role: "assistant", content: "No." },
  ]);
  t.same(readMessages(said([{ type: "refusal", refusal: "No." }], "assistant")), [
    { role: "assistant", content: [{ type: "text", text: "No." }] },
  ]);
  t.match(readMessages([call({}, { arguments: "" })]), [
    { tool_calls: [{ function: { arguments: "{}" } }] },
  ]);
  t.match(readMessages(said([{ type: "image_url", image_url: "data:image/png;base64,AA==" }])), [
    { content: [{ image_url: { url: "data:image/png;base64,AA==" } }] },
  ]);
});

t.test("no shape of a message is anything but read or refused", async () => {
  const names = ["role", "content", "name", "tool_calls", "tool_call_id", "refusal"];
  const words = fc.constantFrom("user", "assistant", "tool", "function", "text", "image_url");
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      ...[words, fc.constant(null), fc.integer(), fc.boolean()],
      fc.array(tie("value"), { maxLength: 2 }),
      fc.dictionary(
        fc.constantFrom(
          ...names,
          "type",
          "text",
          "image_url",
          "url",
          "id",
          "function",
          "arguments",
        ),
        tie("value"),
      ),
    ),
  }));
  fc.assert(
    fc.property(fc.array(value, { maxLength: 3 }), (messages) => {
      const refusal = refusalOf(messages);
      return refusal === null || refusal.status === 400;
    }),
  );
});
