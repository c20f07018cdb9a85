import t from "tap";
import { shareStandings } from "../../../src/kernel/decisions/share-standing.ts";
import type { Amounts, Share } from "../../../src/kernel/decisions/shares.ts";

const share = (id: string, change: Partial<Share> = {}): Share => ({
  ...{ id, parent: null, guarantee: {}, limit: {}, weight: 1 },
  ...change,
});
const held = (amounts: Record<string, Amounts>) => new Map(Object.entries(amounts));

t.test("of a guarantee a part is used, and a part is in the hands of others", async (t) => {
  const shares = [share("a", { guarantee: { cpu: 3 } }), share("b")];
  const standings = (free: Amounts) =>
    shareStandings(shares, held({ a: { cpu: 1 }, b: { cpu: 4 } }), free);
  t.same(standings({}).get("a"), {
    guaranteeUsed: { cpu: 1 },
    lent: { cpu: 2 },
    borrowed: {},
  });
  t.same(standings({}).get("b"), { guaranteeUsed: {}, lent: {}, borrowed: { cpu: 4 } });
  t.same(standings({ cpu: 1 }).get("a")?.lent, { cpu: 1 }, "a free one it gets at once");
  t.same(standings({ cpu: 5 }).get("a")?.lent, {});
});

t.test("what a team is guaranteed its projects do not borrow", async (t) => {
  const shares = [
    share("team", { guarantee: { cpu: 4 } }),
    share("a", { parent: "team", guarantee: { cpu: 1 } }),
    share("b", { parent: "team" }),
  ];
  const within = held({ team: { cpu: 4 }, a: { cpu: 2 }, b: { cpu: 2 } });
  t.same(shareStandings(shares, within, {}).get("b")?.borrowed, {});
  const beyond = held({ team: { cpu: 5 }, a: { cpu: 3 }, b: { cpu: 2 } });
  const standings = shareStandings(shares, beyond, {});
  t.same(standings.get("team")?.borrowed, { cpu: 1 });
  t.same(standings.get("a")?.borrowed, { cpu: 1 }, "no more than its team");
});
