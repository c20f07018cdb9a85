/** Records that another release of the agent wrote: after a rollback this one goes on with them, or says why it does not. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import { freshState, MemberStore } from "../../src/members/member-record.ts";

const desired = {
  member: "m-1",
  job: "j",
  attempt: "a",
  fence: { generation: 1, counter: 1 },
} as DesiredMember;

function stored(
  t: Test,
  record: string,
): { store: MemberStore; file: string; unread: string[]; load: () => unknown[] } {
  const dir = t.testdir();
  const store = new MemberStore(dir, { withRoom: (write) => write() });
  const file = join(dir, "members", "m-1", "record.json");
  mkdirSync(join(dir, "members", "m-1"));
  writeFileSync(file, record);
  const unread: string[] = [];
  return {
    store,
    file,
    unread,
    load: () => store.load((member, why) => unread.push(`${member}: ${why}`)),
  };
}

const state = freshState(desired, "staging", "boot-1");

t.test("what a newer release notes beside is kept, and written again", async (t) => {
  const newer = {
    ...state,
    desired: { ...desired, ofANewerRelease: 1 },
    ofANewerRelease: { deep: [1] },
  };
  const { store, file, unread } = stored(t, JSON.stringify(newer));
  const [read] = store.load();
  store.save({ ...read!, phase: "running" });
  t.same(JSON.parse(readFileSync(file, "utf8")), { ...newer, phase: "running" });
  t.same(unread, []);
});

t.test("what an older release did not note is fresh", async (t) => {
  const { logSeq: _later, ...older } = state;
  const { load } = stored(t, JSON.stringify(older));
  t.match(load(), [{ logSeq: 1 }]);
});

t.test("a record of another format is left out, and both formats are named", async (t) => {
  const { load, unread } = stored(t, JSON.stringify({ ...state, formatVersion: 3 }));
  t.same(load(), []);
  t.same(unread, ["m-1: the record has format 3, this release reads 2"]);
});

t.test(
  "a damaged record is left out and named; a folder without one is no member yet",
  async (t) => {
    const { load, unread, file } = stored(t, "{");
    mkdirSync(join(file, "../../m-2"));
    t.same(load(), []);
    t.match(unread, [/^m-1: the record can't be read/]);
  },
);
