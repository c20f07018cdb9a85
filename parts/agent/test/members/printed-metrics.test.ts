import { appendFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { MemberContext } from "../../src/members/member-context.ts";
import { MemberJournal } from "../../src/members/member-journal.ts";
import { freshState, MemberStore } from "../../src/members/member-record.ts";
import { PrintedMetrics } from "../../src/members/printed-metrics.ts";
import { MemberArea } from "../../src/substrate/container-host/files/member-area.ts";
import { MemberFilesystem } from "../../src/substrate/container-host/files/member-filesystem.ts";
import { federationPayload } from "../helper/federation-payload.ts";

/** A member that prints; `told` is what of it was told so far. */
function printing(t: Test, metrics: string | null) {
  const store = new MemberStore(t.testdir({}), { withRoom: (write) => write() });
  const ref = { member: "m", fence: { generation: 1, counter: 1 } };
  const payload = federationPayload("job", { kind: "server" });
  if (metrics !== null) payload.outputs.metrics = metrics;
  const state = freshState({ ...ref, payload } as DesiredMember, "running", "boot");
  const ignore = (): void => undefined;
  const journal = new MemberJournal(store, state, ignore, ignore);
  const disk = new MemberFilesystem(store.directory(ref.member));
  mkdirSync(disk.path("events"), { recursive: true });
  const member = {
    abandoned: new AbortController().signal,
    ...{ journal, ref, enclosure: { area: new MemberArea(disk, () => 0) } },
  } as unknown as MemberContext;
  return {
    member,
    print: (text: string) => appendFileSync(join(disk.path("events"), "output.log"), text),
    told: () => journal.state.pending.map(({ event }) => event),
    taken: () => journal.settle(journal.state.pending.length),
    /** As the next process finds it. */
    again: () => {
      const [found] = store.load();
      const after = new MemberJournal(store, found!, ignore, ignore);
      return new PrintedMetrics({ ...member, journal: after });
    },
  };
}

t.test("each metric is told once, whole lines alone, across a restart of the agent", async (t) => {
  const { member, print, told, again } = printing(t, "command");
  const metrics = new PrintedMetrics(member);
  await metrics.tick();
  print('begin\n10 %\rRT_METRIC {"loss": 1}\nRT_METRIC {"lo');
  await metrics.tick();
  await metrics.tick();
  t.same(told(), [{ kind: "metric", site: "command", value: '{"loss": 1}' }]);
  print('ss": NaN}\n');
  await metrics.tick();
  t.match(told().slice(1), [
    { kind: "metric", value: '{"loss": "NaN"}' },
    { kind: "warning", site: "command", topic: "metric-kept-as-text", text: /JSON has no NaN/ },
  ]);
  await again().finish();
  t.equal(told().length, 3);
});

t.test("a program that prints metrics alone is read as fast as they are taken", async (t) => {
  const { member, print, told, taken } = printing(t, "command");
  const metrics = new PrintedMetrics(member);
  for (let line = 0; line < 2_000; line++) print(`RT_METRIC {"step": ${line}}\n`);
  for (let looks = 0; looks < 50; looks++) await metrics.tick();
  t.equal(told().length, 512);
  let all = 0;
  const take = setInterval(() => {
    all += told().length;
    taken();
  }, 5);
  await metrics.finish();
  clearInterval(take);
  t.equal(all + told().length, 2_000);
});

t.test("a line without an end hides no later metric", async (t) => {
  const { member, print, told } = printing(t, "command");
  print(`${"x".repeat(300 * 1024)}\nRT_METRIC {"a": 1}\n`);
  await new PrintedMetrics(member).finish();
  t.same(told(), [{ kind: "metric", site: "command", value: '{"a": 1}' }]);
});

t.test("a last line without its end is told once nothing more comes", async (t) => {
  const { member, print, told } = printing(t, "command");
  const metrics = new PrintedMetrics(member);
  print('RT_METRIC {"a": 1}');
  await metrics.tick();
  t.same(told(), []);
  await metrics.finish();
  t.same(told(), [{ kind: "metric", site: "command", value: '{"a": 1}' }]);
});

t.test("what a runner of ours prints is told by the runner alone", async (t) => {
  const { member, print, told } = printing(t, null);
  print('RT_METRIC {"a": 1}\n');
  await new PrintedMetrics(member).finish();
  t.same(told(), []);
});
