import t from "tap";
import { SeenTokens } from "../../src/http/seen-tokens.ts";

t.test(
  "a token is known for longer than it lives, and no more are kept than it takes",
  async (t) => {
    const seen = new SeenTokens();
    seen.add("a", 0);
    t.equal(seen.has("a"), true);
    t.equal(seen.has("b"), false);
    seen.add("b", 5 * 60_000);
    t.equal(seen.has("a"), true);
    seen.add("c", 10 * 60_000);
    t.equal(seen.has("a"), false, "ten minutes later");
    t.equal(seen.has("b"), true);
    for (let count = 0; count < 10_000; count += 1) seen.add(`more-${count}`, 10 * 60_000);
    t.equal(seen.has("b"), false, "the oldest go first");
    t.equal(seen.has("more-9999"), true);
  },
);
