import t from "tap";
import { summaryOf } from "../../../src/approvals/decisions/summary.ts";

t.test("a change of a share says what it says and no more", async (t) => {
  const told = (change: object) => summaryOf({ kind: "share", share: "p_1", ...change }, "lung");
  t.equal(
    told({ guarantee: { h100: 1, cpu: 2 }, weight: 3 }),
    "the share of lung becomes guarantee 2 cpu, 1 h100, weight 3",
  );
  t.equal(
    told({ guarantee: {}, limit: { cpu: 8 } }),
    "the share of lung becomes no guarantee, limit 8 cpu",
  );
});
