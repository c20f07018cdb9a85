import t from "tap";
import { averageHeld } from "../../../src/kernel/decisions/decayed-use.ts";
import { compareStandings, type Share, ShareLedger } from "../../../src/kernel/decisions/shares.ts";

const share = (id: string, change: Partial<Share> = {}): Share => ({
  ...{ id, parent: null, guarantee: {}, limit: {}, weight: 1 },
  ...change,
});
const HOUR = 3_600_000;

t.test("a project is within a guarantee of its own, or of whoever stands above it", async (t) => {
  const ledger = new ShareLedger(
    [
      share("team", { guarantee: { h100: 4 } }),
      share("a", { parent: "team", guarantee: { h100: 1 } }),
      share("b", { parent: "team" }),
    ],
    { h100: 8 },
  );
  t.ok(ledger.isGuaranteed("a", { h100: 1 }));
  t.ok(ledger.isGuaranteed("b", { h100: 4 }), "the team's");
  ledger.hold("a", { h100: 3 });
  t.ok(ledger.isGuaranteed("b", { h100: 1 }));
  t.notOk(ledger.isGuaranteed("b", { h100: 2 }), "a holds the rest of the team's");
  t.notOk(ledger.borrows("a", { h100: 3 }), "the team is within its own");
  ledger.hold("b", { h100: 2 });
  t.ok(ledger.borrows("a", { h100: 3 }));
  t.notOk(ledger.isGuaranteed("a", { l4: 1 }), "nobody was guaranteed that model");
  ledger.release("b", { h100: 2 });
  t.notOk(ledger.borrows("a", { h100: 3 }));
});

t.test("a limit binds on each level, and is told with its model", async (t) => {
  const ledger = new ShareLedger(
    [share("team", { limit: { cpu: 3 } }), share("a", { parent: "team", limit: { cpu: 2 } })],
    { cpu: 8 },
  );
  t.equal(ledger.limitOver("a", { cpu: 2 }), null);
  t.same(ledger.limitOver("a", { cpu: 3 }), { id: "a", model: "cpu", limit: 2 });
  t.ok(ledger.neverFits("a", { cpu: 3 }));
  ledger.hold("a", { cpu: 2 });
  t.same(ledger.limitOver("a", { cpu: 1 }), { id: "a", model: "cpu", limit: 2 });
  t.notOk(ledger.neverFits("a", { cpu: 1 }));
  t.equal(ledger.limitOver("a", { h100: 9 }), null);
});

t.test("under guarantee comes first, then whoever is lent least by its weight", async (t) => {
  const shares = [share("sure", { guarantee: { cpu: 2 } }), share("heavy", { weight: 3 })];
  const ledger = new ShareLedger([...shares, share("light")], { cpu: 10 });
  const before = (a: string, b: string) =>
    compareStandings(ledger.standingOf(a, { cpu: 1 }), ledger.standingOf(b, { cpu: 1 })) < 0;
  t.ok(before("sure", "heavy"));
  ledger.hold("sure", { cpu: 2 });
  ledger.hold("light", { cpu: 1 });
  ledger.hold("heavy", { cpu: 4 });
  t.ok(before("heavy", "light"), "5 of weight 3 are less than 2 of weight 1");
  t.ok(before("sure", "heavy"), "it is lent its first");
  ledger.hold("light", { cpu: -1 });
  t.ok(before("light", "heavy"));
});

t.test("the dominant model counts, and what was used before", async (t) => {
  const used = new Map([["before", { cpu: 4 }]]);
  const ledger = new ShareLedger([share("before"), share("now")], { cpu: 8, h100: 2 }, used);
  const order = (a: Record<string, number>, b: Record<string, number>) =>
    compareStandings(ledger.standingOf("before", a), ledger.standingOf("now", b));
  t.ok(order({ cpu: 1 }, { cpu: 4 }) > 0, "4 used and 1 wanted of 8 are more than 4");
  t.ok(order({ cpu: 1 }, { h100: 2 }) < 0, "both of two devices are more");
});

t.test("a project of which nothing is set borrows by weight 1, and is counted", async (t) => {
  const ledger = new ShareLedger([share("other")], { cpu: 4 });
  ledger.hold("new", { cpu: 2 });
  t.same(ledger.held("new"), { cpu: 2 });
  t.ok(ledger.borrows("new", { cpu: 1 }));
  t.ok(
    compareStandings(ledger.standingOf("other", { cpu: 1 }), ledger.standingOf("new", { cpu: 1 })) <
      0,
  );
});

t.test(
  "use counts half as much a day later, and a worker that was always held counts one",
  async (t) => {
    const now = 1_000 * HOUR;
    const of = (from: number, until: number | null) =>
      averageHeld([{ project: "p", model: "cpu", from: now - from * HOUR, until }], now).get("p")!;
    t.match(of(24, null)["cpu"]!.toFixed(3), "0.500");
    t.match(of(48, now - 24 * HOUR)["cpu"]!.toFixed(3), "0.250");
    t.match(of(900, null)["cpu"]!.toFixed(3), "1.000");
    t.equal(of(0, null)["cpu"], 0);
  },
);
