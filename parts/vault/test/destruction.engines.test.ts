import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { Needles } from "../src/privacy/find-bytes.ts";
import { refuse, setOrLiftHold } from "../src/privacy/holds.ts";
import { disclose } from "../src/privacy/disclose.ts";
import { disclosing, erase, setHold } from "./helper/privacy-requests.ts";
import { ORIGIN, PartsFixture } from "./helper/parts-fixture.ts";

/** The vault is killed once the keys are gone, before anything else is. */
function killedBehindTheKeys({ parts }: PartsFixture): void {
  parts.store.markErased = () => {
    throw new Error("killed");
  };
}

/** Of this process alone: `resourceUsage` tells that of whoever started it, too. */
const peakMiB = () =>
  Number(/^VmHWM:\s+([0-9]+)/m.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1024;
/** From here on the peak is counted anew. */
const forgetPeak = () => writeFileSync("/proc/self/clear_refs", "5");

t.test("the memory that retention takes does not grow with what it ends", async (t) => {
  using vault = await PartsFixture.open(t);
  await vault.seal({ subject: "usr-1", month: "2020-01" }, 300_000);
  await vault.seal({ subject: "usr-2", month: "2026-01" }, 20_000, 5_000);
  const op = vault.retentionAsked("2020-02");
  forgetPeak();
  const before = peakMiB();
  t.match(await vault.retention.goOn(op), { state: "done" });
  const grown = peakMiB() - before;
  t.ok(
    grown < 190,
    `${grown.toFixed(0)} MiB more; needles take 300, a database made anew in memory 200`,
  );
  t.match(vault.parts.store.counts, { sealed: 20_000, erased: 300_000 });
  t.same(
    readdirSync(vault.config.dataDir).filter(
      (name) => !name.startsWith("sealed.sqlite") && name !== "serving",
    ),
    [],
    "no other file is left",
  );
});

t.test(
  "while the database is made anew the vault goes on answering, and what was deleted is in no file afterwards",
  async (t) => {
    using vault = await PartsFixture.open(t);
    await vault.seal({ subject: "usr-1", month: "2020-01" }, 150_000, 300);
    await vault.seal({ subject: "usr-2", month: "2026-01" }, 50_000, 300);
    const file = join(vault.config.dataDir, "sealed.sqlite");
    const before = statSync(file).size;
    const op = vault.retentionAsked("2020-02");
    vault.parts.store.markErased(op, { subject: "usr-1", month: "2020-01" }, 150_000);
    const made = vault.opened.scrub();
    let looks = 0;
    const looking = setInterval(() => {
      looks += vault.parts.store.pageOfSealed(ORIGIN, { index: 0, field: "" }, 1_000_000, 1).length;
    }, 5);
    await made;
    clearInterval(looking);
    t.ok(looks > 5, `${looks} looks`);
    t.ok(statSync(file).size < before / 2);
    t.equal(statSync(`${file}-wal`).size, 0);
  },
);

t.test(
  "whoever asks for something writes nothing before its turn: the database may be made anew meanwhile",
  async (t) => {
    using vault = await PartsFixture.open(t);
    await vault.seal({ subject: "usr-1", month: "2026-01" }, 20);
    const busy = Promise.withResolvers<void>();
    const turn = vault.parts.turns.run(() => busy.promise);
    const asked = {
      subject: "usr-1",
      request: "req-1",
      legalBasis: "gdpr-17",
      requester: "usr-dpo",
    };
    const erasing = vault.erasures.erase(erase("usr-1")).catch(() => null);
    const refusing = refuse(vault.parts, {
      ...asked,
      verb: "refuse",
      until: "2030-01-01T00:00:00.000Z",
    });
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
    t.same(vault.parts.outbox.unanswered(0), []);
    busy.resolve();
    await Promise.all([turn, erasing, refusing]);
    const said = vault.parts.outbox.unanswered(0).map(({ event }) => JSON.parse(event));
    t.same(said.map(({ type, phase }) => `${type} ${phase}`).sort(), [
      "privacy.erasure requested",
      "privacy.refusal fact",
    ]);
  },
);

t.test(
  "an erasure looks for the keys and so many values as there is room for, and says for how many",
  async (t) => {
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
  },
);

t.test(
  "killed once the keys are gone, an erasure says the same end of the copies, and asks for no hold any more",
  async (t) => {
    const first = await PartsFixture.open(t);
    await first.seal({ subject: "usr-1", month: "2026-01" }, 20);
    await first.parts.epochs.backUp(Date.now());
    const op = first.erasureAsked("usr-1");
    killedBehindTheKeys(first);
    await t.rejects(first.erasures.goOn(op), /killed/);
    t.equal(first.parts.keys.count, 0);
    using second = await first.reopened();
    const { acts, epochs, store } = second.parts;
    acts.transaction(() => acts.setHold(op, "case-7", "usr-1"));
    const { state, result } = await second.erasures.goOn(op);
    t.equal(state, "done");
    t.equal(result?.["final_after"], new Date(epochs.living[0]!.endsAt).toISOString());
    t.match(result?.["erased"], [{ commitments_count: 20 }]);
    t.match(store.counts, { sealed: 0, erased: 20 });
    t.equal(acts.isDoomed("usr-1"), false);
  },
);

t.test("a hold is granted once its outcome is on record", async (t) => {
  using vault = await PartsFixture.open(t);
  const onRecord = Promise.withResolvers<void>();
  const asked: string[] = [];
  vault.parts.record.durableInTime = async (_op, phase) => {
    asked.push(phase);
    if (phase === "completed") await onRecord.promise;
    return { index: 0 } as never;
  };
  const granted = setOrLiftHold(vault.parts, setHold());
  t.equal(await Promise.race([granted, sleep(200, "it waits")]), "it waits");
  t.same(asked, ["requested", "completed"]);
  onRecord.resolve();
  t.match(await granted, { holds: ["case-7"] });
});

t.test("what is being destroyed is disclosed to nobody", async (t) => {
  const first = await PartsFixture.open(t);
  await first.seal({ subject: "usr-1", month: "2026-01" }, 20);
  const op = first.erasureAsked("usr-1");
  killedBehindTheKeys(first);
  await t.rejects(first.erasures.goOn(op), /killed/);
  using second = await first.reopened();
  await t.rejects(
    disclose(second.parts, disclosing(ORIGIN), async () => {}),
    { code: "erasure_under_way" },
  );
});

t.test("nobody's erasure waits for a receiver that takes its time", async (t) => {
  using vault = await PartsFixture.open(t);
  await vault.seal({ subject: "usr-slow", month: "2026-01" }, 300);
  await vault.seal({ subject: "usr-1", month: "2026-01" }, 20);
  const reading = Promise.withResolvers<void>();
  const taken = Promise.withResolvers<void>();
  const handedOut = disclose(vault.parts, disclosing(ORIGIN, ["usr-slow"]), async () => {
    reading.resolve();
    await taken.promise;
  });
  await reading.promise;
  const op = vault.erasureAsked("usr-1");
  const erased = vault.erasures.goOn(op);
  t.match(await Promise.race([erased, sleep(60_000, "it waits", { ref: false })]), {
    state: "done",
  });
  t.equal(vault.parts.acts.disclosuresOf("usr-slow"), 1);
  taken.resolve();
  await erased;
  t.match(
    await handedOut.catch((error: unknown) => error),
    { code: "erasure_under_way" },
    "the log has no place for it here",
  );
});
