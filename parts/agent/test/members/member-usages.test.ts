import t from "tap";
import { MemberUsages } from "../../src/members/member-usages.ts";
import type { RunUsage } from "../../src/decisions/run-usage.ts";

const MIB = 1024 ** 2;
const HELD = ["m-1", "m-2"].map((member) => ({ member, fence: { generation: 1, counter: 1 } }));

function followed(usage: RunUsage) {
  const news = { count: 0 };
  const usages = new MemberUsages(() => (news.count += 1));
  const now = { usage, memory: usage.memoryBytes ?? null };
  const run = { usage: () => now.usage, memoryBytes: () => now.memory };
  return { usages, news, now, follow: () => usages.follow("m-2", run) };
}

t.test("a beat tells what runs, by its place in the list", async (t) => {
  const { usages, now, follow } = followed({ cpuMs: 5 });
  t.equal(usages.tell(HELD), undefined);
  using _followed = follow();
  t.strictSame(usages.tell(HELD), { held: [1], cpuMs: [5] });
  now.usage = { cpuMs: 9 };
  t.strictSame(usages.tell(HELD), { held: [1], cpuMs: [9] });
  t.equal(usages.tell([HELD[0]!]), undefined, "it is not held any more");
});

t.test(
  "memory that grows fast is told before the next beat is due, and after the end",
  async (t) => {
    const limit = { memoryLimitBytes: 8 * MIB };
    const { usages, news, now, follow } = followed({ memoryBytes: MIB, ...limit });
    const one = follow();
    usages.tell(HELD);
    usages.watchMemory();
    t.equal(news.count, 0, "nothing grew");
    now.usage = { memoryBytes: 7 * MIB, ...limit };
    now.memory = 7 * MIB;
    usages.watchMemory();
    t.equal(news.count, 1);
    usages.watchMemory();
    t.equal(news.count, 1, "once for each climb");
    // It is killed before that beat is sent.
    now.usage = {};
    now.memory = null;
    one[Symbol.dispose]();
    t.equal(news.count, 2);
    t.strictSame(usages.tell(HELD), { held: [1], memoryKib: [7 * 1024], memoryLimitMib: [8] });
    t.equal(usages.tell(HELD), undefined, "once");
  },
);

t.test("a member that ends before its first beat is told of all the same", async (t) => {
  const { usages, news, follow } = followed({ cpuMs: 5 });
  follow()[Symbol.dispose]();
  t.equal(news.count, 1);
  t.strictSame(usages.tell(HELD), { held: [1], cpuMs: [5] });
});

t.test("what was told already is not told again after the end", async (t) => {
  const { usages, news, follow } = followed({ cpuMs: 5 });
  const one = follow();
  usages.tell(HELD);
  one[Symbol.dispose]();
  t.equal(usages.tell(HELD), undefined);
  t.equal(news.count, 0);
});

t.test("a newer run of a member is followed when the older one's end comes late", async (t) => {
  const { usages, follow } = followed({ cpuMs: 5 });
  const older = follow();
  using _newer = follow();
  older[Symbol.dispose]();
  t.strictSame(usages.tell(HELD), { held: [1], cpuMs: [5] });
});
