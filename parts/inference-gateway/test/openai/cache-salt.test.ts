/** Whose beginnings of texts are reused for whom. */
import t from "tap";
import { withCacheSalt } from "../../src/openai/cache-salt.ts";

const salt = (deployment: string, project: string) =>
  withCacheSalt("completions", { prompt: "a" }, { deployment, project })["cache_salt"];

t.test("one project shares them within a deployment, and nobody else does", async (t) => {
  t.equal(salt("job-1", "p_1"), salt("job-1", "p_1"));
  t.not(salt("job-1", "p_1"), salt("job-1", "p_2"));
  t.not(salt("job-1", "p_1"), salt("job-2", "p_1"));
  t.not(salt("a", "b,c"), salt("a,b", "c"), "names can't run into one another");
});

t.test("what a body has stays, and embeddings have no beginnings", async (t) => {
  const tenant = { deployment: "job-1", project: "p_1" };
  t.match(withCacheSalt("chat/completions", { n: 1 }, tenant), { n: 1, cache_salt: /^[\w-]{43}$/ });
  t.same(withCacheSalt("embeddings", { input: "a" }, tenant), { input: "a" });
});
