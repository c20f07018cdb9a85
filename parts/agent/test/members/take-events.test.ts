import { appendFileSync, mkdirSync, truncateSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { DesiredMember } from "@resontech/contracts/agent-protocol";
import t, { type Test } from "tap";
import type { CheckpointUploads } from "../../src/members/checkpoint-uploads.ts";
import type { MemberContext } from "../../src/members/member-context.ts";
import { MemberJournal } from "../../src/members/member-journal.ts";
import { freshState, MemberStore } from "../../src/members/member-record.ts";
import { takeRest } from "../../src/members/take-events.ts";
import { MemberArea } from "../../src/substrate/container-host/files/member-area.ts";
import { MemberFilesystem } from "../../src/substrate/container-host/files/member-filesystem.ts";

const MIB = 1024 * 1024;

/** A member whose container has ended; `writes` is how often its record went to the disk. */
function endedMember(t: Test) {
  let writes = 0;
  const withRoom = <T>(write: () => T): T => {
    writes += 1;
    return write();
  };
  const store = new MemberStore(t.testdir({}), { withRoom });
  const desired = {
    member: "m",
    fence: { generation: 1, counter: 1 },
    payload: { sites: ["site-1"] },
  };
  const state = freshState(desired as unknown as DesiredMember, "running", "boot");
  const journal = new MemberJournal(
    store,
    state,
    () => undefined,
    () => undefined,
  );
  const disk = new MemberFilesystem(store.directory("m"));
  const events = disk.path("events", "events.jsonl");
  mkdirSync(dirname(events), { recursive: true });
  const enclosure = { area: new MemberArea(disk, () => 0) };
  const member = {
    journal,
    enclosure,
    abandoned: new AbortController().signal,
  } as unknown as MemberContext;
  return { member, store, journal, events, writes: () => writes };
}

const noCheckpoints = { request: () => undefined } as unknown as CheckpointUploads;

t.test(
  "a hole of any size costs no write to the disk, which every job of the node would wait for",
  async (t) => {
    const { member, journal, events, writes } = endedMember(t);
    writeFileSync(events, "");
    truncateSync(events, 100 * MIB);
    appendFileSync(events, '\n{"kind":"finished","modelFile":"/app/out/m","modelName":"m"}\n');
    await takeRest(member, noCheckpoints);
    t.same(journal.state.verdict, { kind: "finished" });
    t.same(journal.state.model, { file: "/app/out/m", name: "m" });
    t.ok(writes() <= 3, `${writes()} writes`);
  },
);

t.test(
  "what was told is durable with how far was read, and nothing is told twice after a kill",
  async (t) => {
    const { member, store, journal, events } = endedMember(t);
    writeFileSync(events, '{"kind":"ready"}\nno event\n');
    await takeRest(member, noCheckpoints);
    t.same(
      journal.state.pending.map(({ event }) => event.kind),
      ["ready"],
    );
    const [kept] = store.load();
    t.equal(kept?.eventsOffset, journal.state.eventsOffset);
    appendFileSync(events, "nor is this\n");
    await takeRest(member, noCheckpoints);
    t.equal(store.load()[0]?.pending.length, 1);
  },
);
