import t from "tap";
import { isNews } from "../../../src/kernel/decisions/beat-news.ts";

t.test("a beat is told when it comes after a silence, or differs by more than noise", async (t) => {
  const told = { loopLagMs: 5, diskFreeBytes: 1_600, hasDisk: true };
  const cases: [string, Partial<typeof told>, boolean][] = [
    ["the same", {}, false],
    ["a little later", { loopLagMs: 900 }, false],
    ["late", { loopLagMs: 1_001 }, true],
    ["a little less disk", { diskFreeBytes: 1_500 }, false],
    ["much less disk", { diskFreeBytes: 1_499 }, true],
    ["much more disk", { diskFreeBytes: 1_701 }, true],
    ["too little disk", { hasDisk: false }, true],
  ];
  for (const [name, change, expected] of cases)
    t.equal(isNews(told, { ...told, ...change }), expected, name);
  t.ok(isNews(null, told));
  t.ok(isNews({ ...told, loopLagMs: 2_000 }, told), "it is in time again");
});
