import t from "tap";
import { lifeLeft } from "../src/service-accounts/life-left.ts";

const now = Date.parse("2026-06-01T00:00:00Z");
const inDays = (days: number) => ({ expiresAt: new Date(now + days * 86_400_000).toISOString() });

t.test("an account is living, warned of for its last two weeks, and then over", async (t) => {
  t.same(lifeLeft(inDays(90), now), { state: "living", isEnding: false });
  t.same(lifeLeft(inDays(14), now), { state: "living", isEnding: false });
  t.same(lifeLeft(inDays(13.9), now), { state: "ends in 13 days", isEnding: true });
  t.same(lifeLeft(inDays(0), now), { state: "expired", isEnding: false });
  t.same(lifeLeft({ ...inDays(5), revokedAt: inDays(-1).expiresAt }, now), {
    ...{ state: "revoked", isEnding: false },
  });
});
