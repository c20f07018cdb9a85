import fc from "fast-check";
import t from "tap";
import {
  followedChain,
  followedFile,
  followedPath,
  type FollowedFile,
  servedBefore,
} from "../../src/decisions/followed-chain.ts";
import { isWholeDue } from "../../src/decisions/due-whole.ts";

const OLD = `1795774500000-${"a".repeat(16)}`;
const NEW = `1795774600000-${"0".repeat(16)}`;
const file = (kind: FollowedFile["kind"], number: number, stream = NEW): FollowedFile => {
  const about = { stream, kind, number, atMs: 1_795_774_600_000 + 10 * number };
  return { path: followedPath(about), ...about };
};

t.test("a name says what the file is, and nothing else has such a name", async (t) => {
  const whole = file("whole", 12);
  t.same(followedFile(whole.path), whole);
  for (const path of ["follow/x", `${whole.path}.new`, `backups/${whole.path}`, "follow/../a"])
    t.equal(followedFile(path), null);
});

t.test("the newest whole state counts, of the newest stream that has one", async (t) => {
  t.equal(followedChain([]), null);
  t.equal(followedChain([file("changes", 1)]), null);
  const old = [file("whole", 0, OLD), file("changes", 1, OLD)];
  const begun = [...old, file("changes", 1)];
  t.match(followedChain(begun), { whole: { stream: OLD }, changes: [{ number: 1 }] });
  const both = [...begun, file("whole", 1), file("changes", 2), file("whole", 0)];
  t.match(followedChain(both), { whole: { number: 1, stream: NEW }, changes: [{ number: 2 }] });
});

t.test("changes that are missing in between are named, and what comes later is left", async (t) => {
  const files = [file("whole", 4), file("changes", 5), file("changes", 7), file("changes", 8)];
  t.match(followedChain(files), { missing: 6, changes: [{ number: 5 }] });
  t.match(followedChain(files.slice(0, 2)), { missing: null });
  t.match(followedChain([file("whole", 4), file("changes", 6)]), { missing: 5, changes: [] });
});

t.test("what a whole state makes needless may go in any order: each cut leaves it", async (t) => {
  const whole = file("whole", 5);
  const kept = [whole, file("changes", 6), file("changes", 7)];
  const served = [
    ...[file("whole", 0, OLD), file("changes", 1, OLD), file("whole", 2), file("whole", 5)],
    ...[3, 4, 5].map((number) => file("changes", number)),
  ].filter(({ path }) => path !== whole.path);
  t.same(new Set(servedBefore([...served, ...kept], whole)), new Set(served));
  fc.assert(
    fc.property(fc.shuffledSubarray(served), (left) => {
      const chain = followedChain([...left, ...kept]);
      t.same(chain, { whole, changes: kept.slice(1), missing: null });
    }),
    { numRuns: 50 },
  );
});

t.test(
  "a whole state is due after many files or many bytes, of a large database later",
  async (t) => {
    const [small, large] = [1_000_000, 1_000_000_000];
    t.equal(isWholeDue({ files: 1_999, bytes: 1, wholeBytes: small }), false);
    t.equal(isWholeDue({ files: 2_000, bytes: 1, wholeBytes: small }), true);
    t.equal(isWholeDue({ files: 2_000, bytes: 1, wholeBytes: large }), false);
    t.equal(isWholeDue({ files: 1, bytes: 70_000_000, wholeBytes: small }), true);
    t.equal(isWholeDue({ files: 1, bytes: 70_000_000, wholeBytes: large }), false);
  },
);
