import { readdirSync } from "node:fs";
import t from "tap";
import { Needles } from "../../src/vault/privacy/find-bytes.ts";
import { PartsFixture } from "./parts.ts";

const peakMiB = () => process.resourceUsage().maxRSS / 1024;

t.test("the memory that retention takes does not grow with what it ends", async (t) => {
  using vault = await PartsFixture.open(t);
  await vault.seal({ subject: "usr-1", month: "2020-01" }, 100_000);
  await vault.seal({ subject: "usr-2", month: "2026-01" }, 20_000, 5_000);
  const op = vault.retentionAsked("2020-02");
  const before = peakMiB();
  t.match(await vault.retention.goOn(op), { state: "done" });
  const grown = peakMiB() - before;
  t.ok(grown < 60, `${grown.toFixed(0)} MiB more; needles take 100, a database made anew in memory 100`);
  t.match(vault.parts.store.counts, { sealed: 20_000, erased: 100_000 });
  t.same(
    readdirSync(vault.config.dataDir).filter((name) => !name.startsWith("sealed.sqlite")),
    [],
    "no other file is left",
  );
});

t.test("an erasure looks for the keys and so many values as there is room for, and says for how many", async (t) => {
  using vault = await PartsFixture.open(t);
  await vault.seal({ subject: "usr-1", month: "2026-01" }, 40_000);
  const op = vault.erasureAsked("usr-1");
  t.match(await vault.erasures.goOn(op), { state: "done" });
  const said = vault.parts.outbox.unanswered(0).map(({ event }) => JSON.parse(event));
  t.match(said.at(-1), { phase: "fact", detail: { looked_for: 100_000 } });
  const needles = new Needles(1);
  needles.add(Buffer.alloc(16, 1));
  needles.add(Buffer.alloc(16, 2));
  t.equal(needles.count, 1);
  t.equal(needles.isIn(Buffer.alloc(20, 2)), false);
});
