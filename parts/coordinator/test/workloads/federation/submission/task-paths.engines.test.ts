import { execFileSync } from "node:child_process";
import t from "tap";
import { slugOf } from "../../../../src/submission/decisions/slug-of.ts";

/** The rule as the client states it, in its own language. */
const CLIENT_RULE = `
import json, sys
def slug(name):
    s = name.strip().lower().replace(" ", "-")
    return "".join(ch for ch in s if ch.isalnum() or ch in "-_") or "job"
print(json.dumps([slug(n) for n in json.load(sys.stdin)]))`;

t.test("a slug is what the client makes of the name", async (t) => {
  const names = [
    "Chest X-Ray FL",
    "  Trim me ",
    "ÄÖÜ straße",
    "日本 語",
    "a.b/c\\d",
    "!!!",
    "",
    "x_1-2",
    "Ⅷ ² ½ ٣",
    "emoji 🚀 run",
    "A  B",
  ];
  const expected = JSON.parse(
    execFileSync("python3", ["-c", CLIENT_RULE], { input: JSON.stringify(names) }).toString(),
  ) as string[];
  for (const [index, name] of names.entries())
    t.equal(slugOf(name), expected[index], JSON.stringify(name));
});
