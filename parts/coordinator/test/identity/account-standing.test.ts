import t from "tap";
import {
  ADOPTION_MS,
  nextOfAccount,
} from "../../src/identity/service-accounts/decisions/account-standing.ts";

t.test("an account that nobody answers for is adopted in seven days, or ends", async (t) => {
  t.equal(nextOfAccount({ isAnswered: true, orphanedAt: null }, 9), null);
  t.equal(nextOfAccount({ isAnswered: false, orphanedAt: null }, 9), "orphan");
  t.equal(nextOfAccount({ isAnswered: false, orphanedAt: 9 }, 9 + ADOPTION_MS - 1), null);
  t.equal(nextOfAccount({ isAnswered: false, orphanedAt: 9 }, 9 + ADOPTION_MS), "end");
  t.equal(nextOfAccount({ isAnswered: true, orphanedAt: 9 }, 9 + ADOPTION_MS), "return");
});
