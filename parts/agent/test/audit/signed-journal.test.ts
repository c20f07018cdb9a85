import { appendFileSync, existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { generateKeyPairSync, verify } from "node:crypto";
import {
  AGENT_AUDIT,
  NODE_EVENT_LABEL,
  NODE_EVENT_TYPES,
  type SignedNodeEvent,
} from "@resontech/contracts/node-audit";
import type { DesiredMember, MemberEvent } from "@resontech/contracts/agent-protocol";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import t, { type Test } from "tap";
import { NodeRecords } from "../../src/audit/node-records.ts";
import { SignedJournal } from "../../src/audit/signed-journal.ts";

const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const keyPem = privateKey.export({ type: "pkcs8", format: "pem" });
const open = (dataDir: string) =>
  new SignedJournal({ dataDir, node: "node-a", keyPem, onAppend: () => undefined });
const pseqs = (events: readonly SignedNodeEvent[]) =>
  events.map(({ event }) => Number(JSON.parse(event).pseq));
const lost = (journal: SignedJournal) => new NodeRecords(journal, "node-a").leaseLost(1);

t.test(
  "what was appended is signed and outlives the process; what the log has is gone; numbers go on",
  async (t) => {
    const dir = t.testdir({});
    let first = "";
    {
      using journal = open(dir);
      first = journal.boot;
      for (let n = 0; n < 3; n += 1) lost(journal);
      t.same(pseqs(journal.next()), [1, 2, 3]);
      for (const { event, signature } of journal.next()) {
        const key = { key: publicKey, dsaEncoding: "ieee-p1363" } as const;
        t.ok(
          verify(
            "sha256",
            Buffer.from(NODE_EVENT_LABEL + event),
            key,
            Buffer.from(signature, "base64"),
          ),
        );
      }
      journal.settle(2);
      t.same(pseqs(journal.next()), [3]);
    }
    {
      using journal = open(dir);
      t.same(pseqs(journal.next()), [3]);
      lost(journal);
      journal.settle(4);
      t.equal(statSync(join(dir, "audit", "pending.jsonl")).size, 0);
    }
    using journal = open(dir);
    t.same(journal.next(), []);
    lost(journal);
    t.same(pseqs(journal.next()), [5]);
    t.equal(journal.boot, first, "one life through all restarts");
  },
);

t.test(
  "what waits is signed with the key that the node has now: it may have renewed its certificate",
  async (t) => {
    const dir = t.testdir({});
    {
      using journal = open(dir);
      lost(journal);
    }
    const next = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const nextPem = next.privateKey.export({ type: "pkcs8", format: "pem" });
    using journal = new SignedJournal({
      ...{ dataDir: dir, node: "node-a", keyPem: nextPem, onAppend: () => undefined },
    });
    const [waiting] = journal.next();
    const key = { key: next.publicKey, dsaEncoding: "ieee-p1363" } as const;
    const signature = Buffer.from(waiting!.signature, "base64");
    t.ok(verify("sha256", Buffer.from(NODE_EVENT_LABEL + waiting!.event), key, signature));
  },
);

t.test(
  "a line that a crash cut short was told to nobody, and its number is given again",
  async (t) => {
    const dir = t.testdir({});
    {
      using journal = open(dir);
      lost(journal);
    }
    appendFileSync(join(dir, "audit", "pending.jsonl"), '{"pseq":2,"event":"{');
    using journal = open(dir);
    lost(journal);
    t.same(pseqs(journal.next()), [1, 2]);
  },
);

t.test(
  "a batch is no longer than a frame takes, and a journal that nobody empties is full",
  async (t) => {
    using journal = open(t.testdir({}));
    for (let n = 0; n < 100; n += 1) lost(journal);
    t.equal(journal.next().length, 64);
    t.notOk(journal.isFull);
    t.ok(existsSync(t.testdirName));
  },
);

const DESIRED = {
  ...{
    member: "m-1",
    job: "job-1",
    attempt: "a-1",
    fence: { generation: 1, counter: 2 },
    inputs: [],
  },
  image: `r:5000/resontech/fl-cpu@sha256:${"ab".repeat(32)}`,
} as unknown as DesiredMember;
const EVENTS: MemberEvent[] = [
  { kind: "progress", step: "image", done: 1 },
  { kind: "staged", bytes: 5 },
  { kind: "started", container: "c".repeat(64) },
  { kind: "ready" },
  { kind: "standing", standing: "stalled", order: 1 },
  { kind: "job-started", nvflareJob: "n" },
  { kind: "round-started", round: 1, numRounds: 2 },
  { kind: "round-ended", round: 1, sites: [] },
  { kind: "checkpoint", round: 1, model: "u", manifest: "v" },
  { kind: "warning", site: "s", topic: "canary7f3a", text: "canary7f3a" },
  { kind: "metric", site: "s", value: "{}" },
  { kind: "finished" },
  { kind: "outputs-uploaded", keys: [] },
  { kind: "failed", reason: "out_of_memory", message: "canary7f3a of Ada", detail: "canary7f3a" },
  { kind: "released", processesGone: true, diskGone: true, devicesAtBaseline: true },
];

function recordsOf(t: Test): {
  records: NodeRecords;
  leaves: () => EventDraft[];
  journal: SignedJournal;
} {
  const journal = open(t.testdir({}));
  t.teardown(() => journal[Symbol.dispose]());
  const leaves = () => journal.next().map(({ event }) => JSON.parse(event) as EventDraft);
  return { records: new NodeRecords(journal, "node-a"), leaves, journal };
}

t.test(
  "every report of an agent leaves the event that it declares, or none with a reason",
  async (t) => {
    t.same(
      EVENTS.map(({ kind }) => kind).toSorted(),
      Object.keys(AGENT_AUDIT).toSorted(),
      "each kind is driven here",
    );
    const { records, leaves } = recordsOf(t);
    for (const event of EVENTS) {
      const before = leaves().length;
      records.reported(DESIRED, event);
      const told = leaves().slice(before);
      const declared = AGENT_AUDIT[event.kind];
      if ("none" in declared) t.same(told, [], `${event.kind}: ${declared.none}`);
      else
        t.match(
          told,
          [{ type: declared.event, actor: { sub: "node-a", kind: "node" } }],
          event.kind,
        );
    }
    records.image(DESIRED, true);
    records.ended(DESIRED, 137, true);
    records.output(DESIRED, { sizeBytes: 7, sha256: "cd".repeat(32), area: "output" });
    records.leaseLost(3);
    const all = leaves();
    t.same(
      new Set(all.map(({ type }) => type)),
      new Set(NODE_EVENT_TYPES),
      "every type that a node may sign is said by it",
    );
    t.match(
      all.find(({ type }) => type === "job.node.image"),
      { digests: { image: "ab".repeat(32) } },
    );
    t.notMatch(JSON.stringify(all), /canary7f3a/, "nothing that a payload wrote stands in a leaf");
    t.notMatch(JSON.stringify(all), new RegExp("cd".repeat(32)), "digests of data are commitments");
  },
);
