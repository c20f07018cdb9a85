import { RENEWAL_GRACE_MS } from "@resontech/contracts/agent-protocol";
import t from "tap";
import { evaluateLife } from "../../src/decisions/certificate-life.ts";

t.test(
  "a certificate is due in the last third of its life, renews late within the grace, and then admits to nothing",
  async (t) => {
    const span = { from: 1_000, to: 4_000 };
    t.equal(evaluateLife(span, 0), "good", "the clock is behind");
    t.equal(evaluateLife(span, 3_000), "good");
    t.equal(evaluateLife(span, 3_001), "due");
    t.equal(evaluateLife(span, 3_999), "due");
    t.equal(evaluateLife(span, 4_000), "ended");
    t.equal(evaluateLife(span, 4_000 + RENEWAL_GRACE_MS), "ended");
    t.equal(evaluateLife(span, 4_001 + RENEWAL_GRACE_MS), "lost");
  },
);
