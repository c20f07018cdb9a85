/** What of a client's body an engine sees. */
import { OPENAI_FIELDS } from "@resontech/contracts/openai-surface";
import fc from "fast-check";
import t from "tap";
import { OpenAiError } from "../../src/openai/openai-error.ts";
import { readRequestBody } from "../../src/openai/request-body.ts";

const messages = [{ role: "user", content: "a" }];
const read = (value: unknown, call: keyof typeof OPENAI_FIELDS = "chat/completions") =>
  readRequestBody(call, Buffer.from(typeof value === "string" ? value : JSON.stringify(value)));
function refusalOf(value: unknown, call?: keyof typeof OPENAI_FIELDS) {
  try {
    read(value, call);
    return null;
  } catch (error) {
    return error instanceof OpenAiError ? error.refusal : error;
  }
}

t.test("fields that are not named are dropped", async (t) => {
  const hostile = {
    ...{ chat_template: "{{x}}", chat_template_kwargs: {}, prompt_embeds: "a", n_discard: -1 },
    ...{
      media_io_kwargs: {},
      chat_parser: "a",
      cache_salt: "a",
      id_slot: 1,
      lora: [],
      grammar: "",
    },
  };
  t.same(read({ model: "m", messages, temperature: 0, ...hostile }), {
    ...{ model: "m", isStream: false, wantsUsage: false },
    body: { model: "m", messages, temperature: 0 },
  });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (more) => {
      const { body } = read({ ...more, model: "m", stream: false, messages });
      return Object.keys(body).every((name) => OPENAI_FIELDS["chat/completions"].includes(name));
    }),
    { examples: [[{ __proto__: 1 }], [{ constructor: 1 }]] },
  );
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
    [{ messages: [{ content: [{ type: "video_url" }] }] }, "unsupported_content"],
    [{ messages, tools: ["a".repeat(300_000)] }, "too_large", "tools"],
  ] as const)
    t.match(refusalOf(value), { status: 400, code, ...(param === undefined ? {} : { param }) });
  t.equal(refusalOf(image("data:image/png;base64,AA==")), null);
  t.throws(() => readRequestBody("completions", Buffer.from([0x7b, 0xff, 0x7d])));
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
