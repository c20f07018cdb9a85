/** How many tokens a call can cost. */
import t from "tap";
import { tokenBound, tokensUsed } from "../../src/limits/token-bound.ts";

const messages = [{ role: "user", content: "Hello there" }];

t.test("a chat costs its text and what may come back, within the context", async (t) => {
  const bound = (more: object) => tokenBound("chat/completions", { messages, ...more }, 4_096);
  const { prompt } = bound({ max_tokens: 10 });
  t.ok(prompt >= JSON.stringify(messages).length && prompt < 100, `${prompt}`);
  t.equal(bound({ max_tokens: 10 }).total, prompt + 10);
  t.equal(bound({}).total, 4_096, "who names no end may fill the context");
  for (const max_tokens of [-1, 0, 1.5, "10", null])
    t.equal(bound({ max_tokens }).total, 4_096, `${max_tokens}`);
  t.equal(bound({ max_tokens: 10, n: 3 }).total, 3 * (prompt + 10));
  t.equal(bound({ max_tokens: 1e9, n: 3 }).total, 3 * 4_096);
});

t.test("of texts each counts", async (t) => {
  t.same(tokenBound("embeddings", { input: ["ab", "é"] }, 512), { prompt: 20, total: 20 });
  t.same(tokenBound("embeddings", { input: "x".repeat(9_999) }, 512), { prompt: 512, total: 512 });
  const completions = (body: object) =>
    tokenBound("completions", { max_tokens: 4, ...body }, 512).total;
  t.equal(completions({ prompt: ["a", "b"] }), 26);
  t.equal(completions({ prompt: ["a", "b"], n: 3 }), 78, "each of them as often as it is answered");
  t.equal(completions({ prompt: [[1], [2]] }), 30);
  t.equal(completions({ prompt: [1, 2] }), 17, "tokens are one text");
});

t.test("an engine that counts no tokens costs none", async (t) => {
  t.same(tokenBound("embeddings", { input: "a" }, null), { prompt: 0, total: 0 });
});

t.test("a call is charged by the engine's word, else by what it could have used", async (t) => {
  const bound = { prompt: 20, total: 100 };
  const usage = { promptTokens: 5, completionTokens: 7, isExact: true };
  t.equal(tokensUsed(bound, usage), 12);
  t.equal(tokensUsed(bound, { ...usage, promptTokens: null, isExact: false }), 27);
  t.equal(tokensUsed(bound, { ...usage, completionTokens: 900, isExact: false }), 100);
  t.equal(tokensUsed(bound, null), 100);
});
