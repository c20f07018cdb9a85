import fc from "fast-check";
import t from "tap";
import { admission, ANSWER_MS, ASK_AFTER_MS, BELIEVED_MS } from "../../src/decisions/liveness.ts";

const MOST_MS = 2_500;
const liveness = fc.record({
  isConnected: fc.boolean(),
  silentMs: fc.oneof(fc.nat(5_000), fc.constant(Number.POSITIVE_INFINITY)),
  unansweredMs: fc.option(fc.nat(5_000)),
});

t.test(
  "nothing passes without a connection, nor once auditd has been silent for too long",
  async (t) => {
    t.ok(BELIEVED_MS <= MOST_MS && ANSWER_MS <= MOST_MS);
    fc.assert(
      fc.property(liveness, (one) => {
        const { verdict } = admission(one);
        return verdict !== "pass" || (one.isConnected && one.silentMs < BELIEVED_MS);
      }),
    );
  },
);

t.test(
  "there is one question at a time, none while auditd was just heard, and always one for who waits",
  async () => {
    fc.assert(
      fc.property(liveness, (one) => {
        const { asks, verdict } = admission(one);
        const isNeeded = one.isConnected && one.silentMs >= ASK_AFTER_MS;
        const hasAnswer = asks || one.unansweredMs !== null;
        return (
          asks === (isNeeded && one.unansweredMs === null) && (verdict !== "wait" || hasAnswer)
        );
      }),
    );
  },
);

t.test(
  "a question that is overdue has everybody refused at once, unless auditd was heard meanwhile",
  async (t) => {
    const overdue = { isConnected: true, unansweredMs: ANSWER_MS };
    t.same(admission({ ...overdue, silentMs: BELIEVED_MS }), { asks: false, verdict: "refuse" });
    t.same(admission({ ...overdue, unansweredMs: ANSWER_MS - 1, silentMs: BELIEVED_MS }), {
      asks: false,
      verdict: "wait",
    });
    t.same(admission({ ...overdue, silentMs: 0 }), { asks: false, verdict: "pass" });
  },
);
