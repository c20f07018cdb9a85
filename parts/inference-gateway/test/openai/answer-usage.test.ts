/** The usage of an answer that passes by in pieces. */
import fc from "fast-check";
import t from "tap";
import { AnswerUsage } from "../../src/openai/answer-usage.ts";

const USAGE = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 };
const exact = { promptTokens: 7, completionTokens: 3, isExact: true };
function read(text: string, at: readonly number[] = []) {
  const answer = new AnswerUsage();
  const bytes = Buffer.from(text);
  const cuts = [0, ...at.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b)];
  for (const [index, cut] of cuts.entries()) answer.push(bytes.subarray(cut, cuts[index + 1]));
  return answer.usage;
}

t.test("it is found wherever it stands, with what it has inside", async (t) => {
  const more = { ...USAGE, prompt_tokens_details: { cached_tokens: 2 } };
  t.same(read(JSON.stringify({ usage: more, data: [1, { a: 1 }] })), exact);
  t.same(read(JSON.stringify({ choices: [{ a: [] }], usage: more })), exact);
  t.same(read(` { "a" : 1 ,\n "usage" : ${JSON.stringify(USAGE)} } `), exact);
  t.same(read(JSON.stringify({ usage: { prompt_tokens: 4 } })), {
    ...{ promptTokens: 4, completionTokens: 0, isExact: true },
  });
});

t.test("nothing that a model wrote is taken for it", async (t) => {
  const written = `"usage":${JSON.stringify({ ...USAGE, prompt_tokens: 0 })}`;
  for (const value of [
    { choices: [{ message: { content: written, usage: { prompt_tokens: 0 } } }] },
    { choices: written, x: ["usage", { prompt_tokens: 0 }] },
    { "\\": "usage", 'a":{"usage': { prompt_tokens: 0 }, usage_: { prompt_tokens: 0 } },
  ]) {
    t.equal(read(JSON.stringify(value)), null);
    t.same(read(JSON.stringify({ ...value, usage: USAGE })), exact);
  }
  for (const usage of [null, 5, "a", [], {}, { prompt_tokens: -1 }, { prompt_tokens: 1.5 }])
    t.equal(read(JSON.stringify({ usage })), null);
  t.equal(read('"usage"'), null);
  t.equal(read(`{"usage":{"prompt_tokens":7,"x":"${"a".repeat(10_000)}"}}`), null, "too long");
});

t.test("pieces may be cut anywhere", async (t) => {
  fc.assert(
    fc.property(fc.object(), fc.array(fc.nat(1_000), { maxLength: 8 }), (value, cuts) => {
      t.same(read(JSON.stringify({ ...value, usage: USAGE }), cuts), exact);
    }),
  );
});
