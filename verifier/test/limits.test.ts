import t from "tap";
import { IssuedUrls } from "../src/completeness/issued-urls.ts";
import { CoordinatorClock } from "../src/completeness/coordinator-clock.ts";
import { DigestTable } from "../src/completeness/digest-table.ts";
import { Horizon } from "../src/completeness/horizon.ts";
import type { Leaf } from "../src/leaf/leaf.ts";
import { MemberCrossCheck } from "../src/completeness/member-cross-check.ts";
import { MultipartUploads } from "../src/completeness/multipart-uploads.ts";
import { Operations } from "../src/completeness/operations.ts";
import { Placements } from "../src/completeness/placements.ts";
import { nodePlatform } from "../src/platform/platform-node.ts";
import { SCHEMA_SHA256 } from "../src/leaf/catalogue.ts";
import { Sequences } from "../src/completeness/sequences.ts";
import { isAnnounced, parseDowntime } from "../src/completeness/timeline.ts";

const said = (changes: Partial<Leaf>): Leaf => ({
  ...{
    op: "op",
    type: "job.submit",
    phase: "requested",
    t: "",
    t_log: "2026-03-01T08:00:00.000Z",
    prod: "auditd",
    boot: "a",
  },
  ...{
    pseq: 1,
    actor: { sub: "auditd" },
    object: { kind: "producer", id: "p" },
    schema_sha256: "",
  },
  ...changes,
});

t.test("a log that begins producers without end is told, and takes no more memory", async (t) => {
  const sequences = new Sequences(nodePlatform.sha256);
  const begun = (at: number): string | null =>
    sequences.fault(
      said({
        type: "audit.producer.start",
        pseq: at + 1,
        object: { kind: "producer", id: `p-${at}` },
        detail: { boot: "b", first_pseq: 1 },
      }),
      at,
    );
  sequences.fault(said({ type: "audit.shard.open" }), 0);
  for (let at = 1; at < 10_000; at++) if (begun(at) !== null) t.fail(`${at}`);
  t.match(begun(10_000), /over 10000 producers/);
  t.equal(sequences.count, 10_000);
});

t.test(
  "a log that opens operations without end is told, also where a shard carries them on",
  async (t) => {
    for (const type of ["job.submit", "audit.op.carried"]) {
      const operations = new Operations();
      const detail = { type: "job.submit", logged_at: "2026-03-01T08:00:00.000Z" };
      for (let at = 0; at < 50_000; at++)
        operations.fault(said({ type, op: `op-${at}`, detail }), at);
      t.match(
        operations.fault(said({ type, op: "one more", detail }), 50_000),
        /over 50000 operations are open/,
        type,
      );
      t.equal(operations.atEnd(0).open, 50_000, type);
    }
  },
);

t.test(
  "a log that issues URLs without end takes no more memory, and its uses are judged again once those are over",
  async (t) => {
    const urls = new IssuedUrls(nodePlatform);
    const url = (at: number): string => at.toString(16).padStart(32, "0").padEnd(64, "0");
    const issued = (at: number): string | null =>
      urls.fault(
        said({
          type: "data.stage",
          prod: "coordinator-gate",
          detail: { url_sha256: url(at), ttl_s: 9_000_000_000 },
        }),
        at,
      );
    const read = { type: "data.object.read", actor: { sub: "coordinator" } };
    const used = (at: number, t_log = "2026-03-01T08:00:00.000Z"): string | null =>
      urls.fault(said({ ...read, t_log, detail: { url_sha256: url(at), status: 200 } }), at);
    for (let at = 1; at <= 300_000; at++) issued(at);
    t.equal(used(1), null);
    t.equal(urls.paired, 1);
    t.match(used(2_000_000), /CROSS-CHECK/);
    t.equal(urls.isOver, false);
    issued(300_001);
    t.equal(urls.count, 0, "none is remembered");
    t.equal(urls.isOver, true);
    t.equal(used(2_000_000), null);
    issued(300_002);
    t.equal(used(2_000_000, "2026-03-03T07:59:59.999Z"), null);
    t.equal(used(300_002, "2026-03-03T08:00:00.000Z"), null);
    t.match(used(2_000_000, "2026-03-03T08:00:00.000Z"), /CROSS-CHECK/);
  },
);

t.test(
  "a log whose writes at the S3 door never end is compared no further, which is told",
  async (t) => {
    const urls = new IssuedUrls(nodePlatform);
    const write = (at: number) =>
      urls.fault(
        said({
          ...{ type: "data.object.write", op: `op-${at}`, actor: { sub: "coordinator" } },
          detail: { url_sha256: at.toString(16).padStart(64, "0") },
        }),
        at,
      );
    for (let at = 0; at < 20_000; at++) write(at);
    t.equal(urls.isOver, false);
    write(20_000);
    t.equal(urls.isOver, true);
  },
);

t.test(
  "a URL is forgotten a day after it expired, whatever life it was said to have",
  async (t) => {
    const urls = new IssuedUrls(nodePlatform);
    const at = (hours: number, type: string, url: string, detail: object): string | null => {
      const t_log = new Date(
        Date.parse("2026-03-01T08:00:00.000Z") + hours * 3_600_000,
      ).toISOString();
      const sender = { prod: "coordinator-gate", actor: { sub: "coordinator" } };
      return urls.fault(
        said({
          type,
          t_log,
          ...sender,
          detail: { url_sha256: url.padStart(32, "0").padEnd(64, "0"), ...detail },
        }),
        1,
      );
    };
    at(0, "data.stage", "ffffff", { ttl_s: 9_000_000_000 });
    t.equal(at(1, "data.object.read", "ffffff", { status: 200 }), null);
    for (let other = 1; other < 10_000; other++)
      at(47, "data.stage", other.toString(16), { ttl_s: 60 });
    t.equal(
      at(47, "data.object.read", "ffffff", { status: 200 }),
      null,
      "it may still be on its way",
    );
    for (let other = 0; other < 10_000; other++)
      at(49, "data.stage", `f${other.toString(16).padStart(9, "0")}`, { ttl_s: 60 });
    t.match(at(49, "data.object.read", "ffffff", { status: 200 }), /CROSS-CHECK/);
  },
);

t.test("silences and announced times are compared in the time that both are read in", async (t) => {
  const downtime = parseDowntime("2026-01-01T00:00Z 2026-01-01T00:01Z\n".repeat(28_000))!;
  const stretch = {
    kind: "DARK",
    index: 1,
    from: "2026-03-01T08:00:00.000Z",
    to: "2026-03-01T08:03:00.000Z",
  } as const;
  const before = process.cpuUsage();
  for (let at = 0; at < 1_000; at++) if (isAnnounced(stretch, downtime)) t.fail();
  const tookMs = process.cpuUsage(before).user / 1_000;
  t.ok(tookMs < 2_000, `${Math.round(tookMs)} ms of CPU`);
});

t.test("a set of digests knows those that were added, and no others", async (t) => {
  const set = new DigestTable();
  const digest = (at: number) => nodePlatform.sha256(Buffer.from(String(at)));
  const zero = new Uint8Array(32);
  t.equal(set.has(zero), false);
  set.add(zero);
  for (let at = 0; at < 100_000; at++) set.add(digest(at));
  for (let at = 0; at < 100_000; at += 7) set.add(digest(at));
  t.equal(set.size, 100_001);
  t.equal(set.has(zero), true);
  for (let at = 0; at < 100_000; at++) if (!set.has(digest(at))) t.fail(`${at}`);
  for (let at = 100_000; at < 200_000; at++) if (set.has(digest(at))) t.fail(`${at}`);
});

t.test(
  "a log that has uploads, members or nodes without end under way is compared no further, in time",
  async (t) => {
    const before = process.cpuUsage();
    const horizon = new Horizon();
    const clock = new CoordinatorClock();
    const uploads = new MultipartUploads(horizon);
    const opened = (at: number) =>
      uploads.fault(
        said({
          prod: "coordinator-gate",
          type: "model.output.open",
          detail: { upload_sha256: `u-${at}` },
        }),
      );
    for (let at = 0; at < 20_000; at++) opened(at);
    t.equal(uploads.isOver, false);
    opened(20_000);
    t.equal(uploads.isOver, true);

    const moved = (at: number, from: string | null, to: string, node: string) =>
      said({
        ...{
          prod: "coordinator-record",
          type: "job.member",
          phase: "fact",
          schema_sha256: SCHEMA_SHA256,
        },
        object: { kind: "member", id: `m-${at}` },
        detail: { job: "j", attempt: `a-${at}`, role: "server", node, from, to },
      });
    const placed = (words: MemberCrossCheck, at: number, node: string) =>
      words.faults(moved(at, null, "LEASED", node), at, false);
    const refused = said({
      ...{
        prod: "auditd",
        type: "audit.rejected",
        phase: "fact",
        object: { kind: "producer", id: "node-n" },
      },
      detail: { taken: true },
    });
    const members = new MemberCrossCheck(horizon, clock);
    for (let at = 0; at < 20_000; at++) {
      placed(members, at, at % 2 === 0 ? "n" : "other");
      if (at % 2 === 1) members.faults(moved(at, "STARTING", "RUNNING", "other"), at, false);
      members.faults(refused, at, false);
    }
    t.ok(members.waiting <= 32, "of one node");
    const words = new MemberCrossCheck(horizon, clock);
    for (let at = 0; at <= 20_000; at++) placed(words, at, "n");
    t.equal(words.isOver, true);
    const nodes = new MemberCrossCheck(horizon, clock);
    for (let at = 0; at <= 10_000; at++) placed(nodes, at, `n-${at}`);
    t.equal(nodes.isOver, true);

    const placements = new Placements(horizon, clock, nodePlatform);
    const spoken = (at: number) =>
      placements.faults(
        said({
          ...{
            prod: "node-n",
            type: "job.node.started",
            phase: "fact",
            schema_sha256: SCHEMA_SHA256,
          },
          object: { kind: "member", id: `m-${at}` },
        }),
        at,
      );
    for (let at = 0; at < 10_000; at++) if (spoken(at).length > 0) t.fail(`${at}`);
    t.match(spoken(10_000), [{ index: 0, reason: /speaks of a member/ }]);
    const { user } = process.cpuUsage(before);
    t.ok(user < 30_000_000, `${Math.round(user / 1_000)} ms of CPU`);
  },
);

t.test(
  "nobody can know beforehand where a placement is remembered, and so make a search of all that are",
  async (t) => {
    const hashed: string[] = [];
    const sha256 = (bytes: Uint8Array): Uint8Array => {
      hashed.push(Buffer.from(bytes).toString());
      return nodePlatform.sha256(bytes);
    };
    const placed = said({
      ...{
        prod: "coordinator-record",
        type: "job.member",
        phase: "fact",
        object: { kind: "member", id: "m-1" },
      },
      detail: { job: "j", attempt: "a", node: "n", from: null },
    });
    const one = new Placements(new Horizon(), new CoordinatorClock(), { sha256 });
    for (const placements of [
      one,
      one,
      new Placements(new Horizon(), new CoordinatorClock(), { sha256 }),
    ])
      placements.faults(placed, 0);
    t.equal(hashed[0], hashed[1]);
    t.not(hashed[0], hashed[2]);
  },
);
