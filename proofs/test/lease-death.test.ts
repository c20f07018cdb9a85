import t from "tap";
import { isByLease, type LeaseDeath } from "../faults/judge/lease-death.ts";

const DEATH: LeaseDeath = { leaseEndsAfterS: 27, deadAfterS: 27.6, exitCodes: [75, 75, 75] };

t.test("all members that their first process ended once the lease was over died by it", (t) => {
  t.ok(isByLease(DEATH, 3));
  t.end();
});

t.test(
  "an end by itself, one that nobody knows, one before the lease's own or a late one is no death by lease",
  (t) => {
    const others: Partial<LeaseDeath>[] = [
      { exitCodes: [75, 0, 75] },
      { exitCodes: [75, null, 75] },
      { exitCodes: [75, 75] },
      { deadAfterS: 26.9 },
      { deadAfterS: 38.1 },
    ];
    for (const other of others)
      t.notOk(isByLease({ ...DEATH, ...other }, 3), JSON.stringify(other));
    t.end();
  },
);
