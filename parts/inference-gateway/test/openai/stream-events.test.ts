/** A stream that passes by in pieces. */
import fc from "fast-check";
import t from "tap";
import { StreamEvents } from "../../src/openai/stream-events.ts";

const event = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`;
const token = (content: string) => event({ choices: [{ index: 0, delta: { content } }] });
const USAGE = event({ choices: [], usage: { prompt_tokens: 7, completion_tokens: 2 } });
const DONE = "data: [DONE]\n\n";
const whole = [token("é"), ": ping\n\n", token('"usage"'), USAGE, DONE];

function pass(text: string, passesUsage: boolean, cuts: readonly number[] = []) {
  const events = new StreamEvents(passesUsage);
  const bytes = Buffer.from(text);
  const at = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)];
  const passed = at.map((from, index) => events.push(bytes.subarray(from, at[index + 1])));
  return { events, passed: Buffer.concat(passed).toString("utf8") };
}

t.test("the usage goes on to whoever asked for it, and is known in any case", async (t) => {
  for (const asked of [true, false]) {
    const { events, passed } = pass(whole.join(""), asked);
    t.equal(passed, whole.filter((one) => asked || one !== USAGE).join(""));
    t.same(events.usage, { promptTokens: 7, completionTokens: 2, isExact: true });
    t.equal(events.isDone, true);
  }
});

t.test("a chunk with a choice goes on, whatever it says of usage", async (t) => {
  const both = event({ choices: [{ delta: {} }], usage: { prompt_tokens: 1 } });
  const none = event({ choices: [{ delta: {} }], usage: null });
  t.equal(pass(both + none, false).passed, both + none);
  t.equal(pass('data: {"usage"\n\n', false).passed, 'data: {"usage"\n\n', "no JSON");
});

t.test("a stream that ends early has what was seen of it", async (t) => {
  const { events, passed } = pass(`${token("a")}${token("b")}data: {"choi`, false);
  t.same(events.usage, { promptTokens: null, completionTokens: 2, isExact: false });
  t.equal(events.isDone, false);
  t.equal(passed, token("a") + token("b"), "half an event is nobody's");
});

t.test("an engine's error in a stream is told in the API's words, without internals", async (t) => {
  const failed = (code: unknown, message: string) =>
    event({ error: { message, type: "InternalServerError", param: null, code } });
  const { events, passed } = pass(
    `${token("a")}${failed(500, "EngineCore at 0x7f")}${DONE}`,
    false,
  );
  const [first, second, third] = passed.split("\n\n").map((one) => one.slice("data: ".length));
  t.equal(`data: ${first}\n\n`, token("a"));
  t.match(JSON.parse(second ?? ""), { error: { code: "engine_failed", type: "server_error" } });
  t.notMatch(second, /EngineCore/);
  t.equal(third, "[DONE]");
  t.equal(events.isDone, true);
  t.match(pass(failed(400, "too long"), false).passed, /"code":"invalid_request"/);
  t.match(pass(failed("x", "too long"), false).passed, /engine_failed/);
  const named = token('"error"');
  t.equal(pass(named, false).passed, named, "a model may write the word");
});

t.test("pieces may be cut anywhere, and an event has an end", async (t) => {
  fc.assert(
    fc.property(fc.array(fc.nat(1_000), { maxLength: 12 }), (cuts) => {
      t.equal(pass(whole.join(""), true, cuts).passed, whole.join(""));
    }),
  );
  t.throws(() => pass("a".repeat(1024 ** 2 + 1), false));
});
