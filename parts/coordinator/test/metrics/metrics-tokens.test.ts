import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { MetricsTokens } from "../../src/metrics/metrics-tokens.ts";

const TOKEN = "a".repeat(43);
const OTHER = "b".repeat(43);

t.test("each file's token is good, and holds as long as it stands there", async (t) => {
  const dir = t.testdir({ own: `${TOKEN}\n`, customer: OTHER });
  const tokens = new MetricsTokens([join(dir, "own"), join(dir, "customer")]);
  t.ok(tokens.has(TOKEN));
  t.ok(tokens.has(OTHER));
  for (const wrong of ["", "a", `${TOKEN}a`, TOKEN.slice(1), "c".repeat(43)])
    t.notOk(tokens.has(wrong), JSON.stringify(wrong));
  writeFileSync(join(dir, "customer"), "d".repeat(43));
  t.notOk(tokens.has(OTHER), "rotated");
  t.ok(tokens.has("d".repeat(43)));
  rmSync(join(dir, "own"));
  t.notOk(tokens.has(TOKEN), "taken away");
});

t.test("an empty, short or endless file lets nobody in", async (t) => {
  const dir = t.testdir({ empty: "", short: "short", long: "x".repeat(1_000), line: "\n" });
  for (const name of ["empty", "short", "long", "line", "none"]) {
    const tokens = new MetricsTokens([join(dir, name)]);
    for (const asked of ["", "short", "x".repeat(1_000), "\n"])
      t.notOk(tokens.has(asked), `${name}: ${asked.length}`);
  }
  t.notOk(new MetricsTokens([]).has(""));
});
