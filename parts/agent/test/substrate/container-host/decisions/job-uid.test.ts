import t from "tap";
import { chooseUid } from "../../../../src/substrate/container-host/decisions/job-uid.ts";

const range = { from: 5_000, to: 5_007 };
const all = [5_000, 5_001, 5_002, 5_003, 5_004, 5_005, 5_006, 5_007];

t.test("each member gets a number of the range that nobody has, until none is left", async (t) => {
  const taken = new Set<number>();
  for (const name of "abcdefgh") taken.add(chooseUid(range, name, taken) ?? 0);
  t.same(
    [...taken].toSorted((a, b) => a - b),
    all,
  );
  t.equal(chooseUid(range, "i", taken), null);
});

t.test("a number that was given back is not the next one's", async (t) => {
  const names = Array.from({ length: 20 }, (_, index) => `member-${index}`);
  t.ok(new Set(names.map((name) => chooseUid(range, name, new Set()))).size > 4);
});
