import type { StandingShareReply } from "@resontech/contracts/http-shares";
import t from "tap";
import { shareBars } from "../../src/pages/queue/share-bars.ts";

const share = (change: Partial<StandingShareReply>): StandingShareReply => ({
  ...{ id: "p_1", kind: "project", name: "lung", parent: "o_own", guarantee: {}, limit: {} },
  ...{
    personRunning: null,
    personQueued: null,
    interactiveIdleMinutes: null,
    weight: 1,
    held: {},
    guaranteeUsed: {},
    lent: {},
    borrowed: {},
    recentUse: {},
    queued: 0,
  },
  ...change,
});
const FLEET = [{ model: "cpu", workers: 10, free: 1 }];

t.test("a bar shows what is used, lent, ready and borrowed of all there is", async (t) => {
  const lent = { guarantee: { cpu: 4 }, held: { cpu: 1 }, guaranteeUsed: { cpu: 1 } };
  t.same(shareBars(share({ ...lent, lent: { cpu: 2 }, limit: { cpu: 8 } }), FLEET), [
    {
      model: "cpu",
      parts: [
        { part: "used", at: 0, size: 0.1 },
        { part: "lent", at: 0.1, size: 0.2 },
        { part: "ready", at: 0.3, size: 0.1 },
      ],
      limit: 0.8,
      words: "holds 1 · guaranteed 4, 1 of them used · 2 lent to others · at most 8",
    },
  ]);
  const [borrows] = shareBars(
    share({ held: { cpu: 3 }, borrowed: { cpu: 3 }, recentUse: { cpu: 1.26 } }),
    FLEET,
  );
  t.match(borrows, {
    parts: [{ part: "borrowed", at: 0, size: 0.3 }],
    words: "holds 3 · 3 borrowed · 1.3 on average lately",
  });
});

t.test("a share of nothing has no bar, one of its team's guarantee has used it", async (t) => {
  t.same(shareBars(share({ recentUse: { cpu: 0.01 } }), FLEET), []);
  const [bar] = shareBars(share({ held: { cpu: 2 } }), FLEET);
  t.same(bar?.parts, [{ part: "used", at: 0, size: 0.2 }]);
});

t.test("a model that no longer is there has a bar of its own length", async (t) => {
  const [bar] = shareBars(share({ guarantee: { h100: 2 }, limit: { h100: 4 } }), FLEET);
  t.match(bar, { model: "h100", parts: [{ part: "ready", size: 0.5 }], limit: 1 });
});
