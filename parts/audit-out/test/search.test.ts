import {
  chmodSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type { EventDraft } from "@resontech/contracts/audit-draft";
import type { FastifyInstance } from "fastify";
import t, { type Test } from "tap";
import { LogFollower } from "../src/follow/log-follower.ts";
import type { EventFilter } from "../src/search/event-filter.ts";
import { Indexer, rebuildMark } from "../src/search/indexer.ts";
import { buildSearchApp } from "../src/search/search-app.ts";
import { SearchIndex } from "../src/search/search-index.ts";
import { tilePath } from "@resontech/audit/format/tree/tile-layout";
import { jobSubmit } from "@resontech/audit/testing/event-drafts";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { keyLists, WrittenLog } from "./helper/written-log.ts";
import { silent } from "./helper/silent.ts";
import { until } from "@resontech/audit/testing/until";
import { verifyProof } from "@resontech/verifier/event-proof";
import { nodePlatform } from "@resontech/verifier/platform/platform-node";

type Found = {
  shard: string;
  index: number;
  type: string;
  t_log: string;
  sub: string;
  onBehalfOf: string | null;
};
type Page = {
  events: Found[];
  cursor: string | null;
  more: boolean;
  behind: number;
  incomplete: string[];
};

class Search {
  readonly app: FastifyInstance;
  readonly index: SearchIndex;
  readonly indexer: Indexer;
  readonly follower: LogFollower;
  readonly rebuilds: string[] = [];

  readonly #written: WrittenLog;

  constructor(t: Test, log: WrittenLog) {
    this.#written = log;
    this.follower = new LogFollower(log.options, silent);
    this.index = new SearchIndex(log.stateDir, (reason) => this.rebuilds.push(reason));
    this.indexer = new Indexer(this.index, this.follower, log.stateDir, silent);
    this.app = buildSearchApp({
      index: this.index,
      indexer: this.indexer,
      follower: this.follower,
      tokens: null,
      log: silent,
      statusOfParts: () => ({}),
    });
    t.teardown(() => this.close());
  }

  static async on(t: Test, log: WrittenLog): Promise<Search> {
    const search = new Search(t, log);
    await search.follower.start();
    await search.caughtUp();
    return search;
  }

  caughtUp(): Promise<void> {
    return until(
      () =>
        this.follower.shards.at(-1)?.tree.size === this.#written.size && this.indexer.behind === 0,
    );
  }

  async get<T = Page>(path: string, query: Record<string, string | number> = {}): Promise<T> {
    const { statusCode, body } = await this.app.inject({
      url: path,
      query: query as Record<string, string>,
    });
    if (statusCode !== 200)
      throw Object.assign(new Error(body), { statusCode, ...(JSON.parse(body) as object) });
    return JSON.parse(body) as T;
  }

  /** Indices of every page. */
  async all(query: Record<string, string | number>): Promise<string[]> {
    const places: string[] = [];
    let page = await this.get("/events", query);
    for (;;) {
      places.push(...page.events.map(({ shard, index }) => `${shard}/${index}`));
      if (!page.more) return places;
      page = await this.get("/events", { ...query, cursor: page.cursor! });
    }
  }

  #closing: Promise<void> | null = null;
  close(): Promise<void> {
    this.#closing ??= (async () => {
      await this.app.close();
      await this.indexer[Symbol.asyncDispose]();
      await this.follower[Symbol.asyncDispose]();
      this.index[Symbol.dispose]();
    })();
    return this.#closing;
  }
}

/** Ten kinds of entries, over and over: a job of each of five users, and a list of keys of each. */
function mixed(count: number): EventDraft[] {
  return Array.from({ length: count }, (_, at): EventDraft => {
    const sub = `usr-${Math.floor(at / 2) % 5}`;
    if (at % 2 === 1) return keyLists(1, sub)[0]!;
    return {
      ...jobSubmit(),
      phase: "failed",
      outcome: { code: at % 4 === 0 ? "quota" : "internal" },
      actor: { sub, kind: "user" },
    };
  });
}

t.test(
  "pages of any filter, either order, hold each matching entry once, whatever the log grows by meanwhile",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(mixed(700));
    const search = await Search.on(t, log);
    const expected = Array.from({ length: 700 }, (_, at) => at);
    const places = (indices: number[]): string[] => indices.map((index) => `2026/${index}`);
    t.same(await search.all({ order: "oldest", limit: 33 }), places(expected));
    t.same(await search.all({ limit: 1_000 }), places([...expected].reverse()));
    const lists = expected.filter((at) => at % 2 === 1);
    t.same(await search.all({ type: "key.list", order: "oldest", limit: 50 }), places(lists));
    t.same(
      await search.all({ outcome: "quota", actor: "usr-2", phase: "failed", limit: 7 }),
      places(expected.filter((at) => at % 4 === 0 && Math.floor(at / 2) % 5 === 2).reverse()),
    );
    t.same(await search.all({ prod: "s3-front" }), []);
    t.same(
      await search.all({ prod: "coordinator-gate", kind: "job", limit: 99 }),
      places(expected.filter((at) => at % 2 === 0).reverse()),
    );
    const first = await search.get("/events", { limit: 100 });
    await log.append(mixed(50));
    await search.caughtUp();
    const second = await search.get("/events", { limit: 100, cursor: first.cursor! });
    t.equal(second.events[0]?.index, 599, "growth shifts no page");
    const end = await search.get("/events", { order: "oldest", type: "key.list", limit: 1_000 });
    t.equal(end.more, false);
    await log.append(mixed(2));
    await search.caughtUp();
    const more = await search.get("/events", {
      order: "oldest",
      type: "key.list",
      limit: 1_000,
      cursor: end.cursor!,
    });
    t.same(
      more.events.map(({ index }) => index),
      [751],
      "the cursor of the last page goes on when more has come",
    );
  },
);

t.test("times bound by auditd's clock, from the one on and before the other", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(mixed(100));
  const search = await Search.on(t, log);
  const page = await search.get("/events", {
    from: "2026-03-01T00:00:11Z",
    to: "2026-03-01T00:00:14.000Z",
    order: "oldest",
  });
  t.same(
    page.events.map(({ index, t_log }) => [index, t_log]),
    [
      [10, "2026-03-01T00:00:11.000Z"],
      [11, "2026-03-01T00:00:12.000Z"],
      [12, "2026-03-01T00:00:13.000Z"],
    ],
  );
  t.same(await search.all({ from: "2027-01-01T00:00:00Z" }), []);
  t.same(await search.all({ to: "2026-01-01T00:00:00Z" }), []);
});

t.test(
  "a subject's bound shows what it did and what was done for it, and nothing else",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(mixed(20));
    await log.append([
      { ...keyLists(1, "node-1")[0]!, on_behalf_of: "usr-1" },
      { ...keyLists(1, "usr-1")[0]!, on_behalf_of: "usr-1" },
    ]);
    const search = await Search.on(t, log);
    const { events } = await search.get("/events", { sub: "usr-1", limit: 1_000 });
    t.ok(events.every(({ sub, onBehalfOf }) => sub === "usr-1" || onBehalfOf === "usr-1"));
    t.same(
      events.map(({ index }) => index),
      [21, 20, 13, 12, 3, 2],
      "each once, in order",
    );
    t.same(await search.all({ sub: "usr-1", type: "key.list", limit: 1 }), [
      "2026/21",
      "2026/20",
      "2026/13",
      "2026/3",
    ]);
    t.same(await search.all({ sub: "usr-1", actor: "usr-2" }), []);
    t.equal((await search.get<{ index: number }>("/events/20", { sub: "usr-1" })).index, 20);
    await t.rejects(search.get("/events/0", { sub: "usr-1" }), {
      statusCode: 404,
      code: "event_unknown",
    });
  },
);

t.test("an event comes with a proof that leads to the signed checkpoint", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  const leaves = await log.append(mixed(700));
  const search = await Search.on(t, log);
  for (const index of [0, 1, 255, 256, 511, 512, 698, 699]) {
    const answer = await search.get<{ event: unknown; proof: string }>(`/events/${index}`);
    t.same(answer.event, JSON.parse(leaves[index]!.toString("utf8")));
    const report = await verifyProof(
      Buffer.from(answer.proof),
      readFileSync(log.policyFile),
      nodePlatform,
    );
    t.match(report, { index, event: leaves[index]!.toString("utf8") });
    t.match(report.verdicts, { SIGNATURE: { verdict: "PASS" }, INTEGRITY: { verdict: "PASS" } });
  }
  await t.rejects(search.get("/events/700"), { statusCode: 404, code: "event_unknown" });
  await t.rejects(search.get("/events/1", { shard: "2031" }), {
    statusCode: 404,
    code: "event_unknown",
  });
});

t.test(
  "rows that somebody changed mislead searches alone, until the index is made anew",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    const leaves = await log.append(keyLists(300));
    const search = await Search.on(t, log);
    const file = new Database(join(log.stateDir, "search.sqlite"));
    file.exec(
      "UPDATE events SET actor = 'usr-forged' WHERE n % 256 = 17; DELETE FROM events WHERE n % 256 = 18",
    );
    file.close();
    t.equal(
      (await search.all({ actor: "usr-forged" })).length,
      2,
      "what a search shows is no evidence",
    );
    const { event, proof } = await search.get<{ event: unknown; proof: string }>("/events/17");
    t.same(event, JSON.parse(leaves[17]!.toString("utf8")), "an entry itself comes from the log");
    t.match(await verifyProof(Buffer.from(proof), readFileSync(log.policyFile), nodePlatform), {
      event: leaves[17]!.toString("utf8"),
      verdicts: { INTEGRITY: { verdict: "PASS" } },
    });
    t.same(
      (await search.get<{ event: unknown }>("/events/18")).event,
      JSON.parse(leaves[18]!.toString("utf8")),
    );
    await search.close();
    writeFileSync(rebuildMark(log.stateDir), "");
    const again = await Search.on(t, log);
    t.same(await again.all({ actor: "usr-forged" }), []);
    t.equal((await again.all({ actor: "usr-1" })).length, 300);
  },
);

t.test("what is no query is refused with a code", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(mixed(20));
  const search = await Search.on(t, log);
  const { cursor } = await search.get("/events", { limit: 5 });
  const wrongQueries: Record<string, string | number>[] = [
    { limit: 0 },
    { limit: 1_001 },
    { limit: "ten" },
    { type: "job.nonsense" },
    { op: "1' OR 1=1" },
    { actor: "a b" },
    { from: "yesterday" },
    { from: "2026-13-01T00:00:00Z" },
    { order: "random" },
    { colour: "red" },
  ];
  for (const query of wrongQueries)
    await t.rejects(search.get("/events", query), { statusCode: 400, code: "query_invalid" });
  await t.rejects(search.get("/events?type=key.list&type=job.submit"), {
    statusCode: 400,
    code: "query_invalid",
  });
  for (const wrong of ["x", "MTo", Buffer.from("1:2026:5:0123456789abcdef").toString("base64url")])
    await t.rejects(search.get("/events", { cursor: wrong }), {
      statusCode: 400,
      code: "cursor_invalid",
    });
  await t.rejects(search.get("/events", { cursor: cursor!, type: "key.list" }), {
    statusCode: 400,
    code: "cursor_invalid",
  });
  await t.rejects(search.get("/nothing"), { statusCode: 404, code: "not_found" });
  await t.rejects(search.get("/events/-1"), { statusCode: 400, code: "query_invalid" });
});

t.test("counts by type and day are those of the log", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(mixed(300));
  const search = await Search.on(t, log);
  const { byType, byDay } = await search.get<{ byType: unknown; byDay: { day: string }[] }>(
    "/stats",
    { days: 400 },
  );
  t.same(byType, [
    { type: "job.submit", count: 150 },
    { type: "key.list", count: 150 },
  ]);
  t.same(byDay, [
    { day: "2026-03-01", type: "job.submit", count: 150 },
    { day: "2026-03-01", type: "key.list", count: 150 },
  ]);
});

t.test("over two shards a search goes from the newer into the older one", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(3));
  const search = await Search.on(t, log);
  await log.open("2026-2");
  await log.append(keyLists(2));
  await log.open("2027");
  await log.append(keyLists(1));
  await until(() => search.follower.entriesFrom(null) === 6);
  await search.caughtUp();
  t.same(await search.all({ limit: 2 }), [
    "2027/0",
    "2026-2/1",
    "2026-2/0",
    "2026/2",
    "2026/1",
    "2026/0",
  ]);
  t.same(await search.all({ limit: 4, order: "oldest" }), [
    "2026/0",
    "2026/1",
    "2026/2",
    "2026-2/0",
    "2026-2/1",
    "2027/0",
  ]);
});

/** Everything that an index says, to be compared. */
const contentOf = (search: Search): Promise<string[]> =>
  search.all({ limit: 1_000, order: "oldest" });

t.test(
  "the index is the same after it was deleted, cut off, overwritten, of another version, or asked to be made anew",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(mixed(600));
    const before = await Search.on(t, log);
    const content = await contentOf(before);
    t.same(before.rebuilds, []);
    await before.close();
    const file = join(log.stateDir, "search.sqlite");
    const damages: [string, () => void, number][] = [
      ["cut off", () => truncateSync(file, Math.floor(statSync(file).size / 2)), 1],
      ["overwritten", () => writeFileSync(file, Buffer.alloc(50_000, 0x41)), 1],
      ["empty", () => writeFileSync(file, ""), 0],
      [
        "of another version",
        () => {
          const db = new Database(file);
          db.pragma("user_version = 999");
          db.close();
        },
        1,
      ],
    ];
    for (const [what, damage, rebuilds] of damages) {
      damage();
      const search = await Search.on(t, log);
      t.equal(search.rebuilds.length, rebuilds, what);
      t.same(await contentOf(search), content, what);
      await search.close();
    }
    const running = await Search.on(t, log);
    const forger = new Database(file);
    forger.exec("DELETE FROM events WHERE n = 5");
    forger.close();
    t.equal((await contentOf(running)).length, 599);
    writeFileSync(rebuildMark(log.stateDir), "");
    await until(
      () => !readdirSync(log.stateDir).includes("search.rebuild") && running.indexer.behind === 0,
    );
    t.same(await contentOf(running), content, "asked for");
  },
);

t.test("what a restore took from the log goes from the index, too", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(10));
  const first = await Search.on(t, log);
  t.equal((await contentOf(first)).length, 10);
  await first.close();
  // The folder as an older backup has it, and the shard that two people opened after it.
  const restored = await new WrittenLog(temporaryFolder(t), log).open("2026");
  await restored.append(keyLists(4));
  await restored.open("2026-2");
  await restored.append(keyLists(2));
  const search = await Search.on(t, Object.assign(restored, { stateDir: log.stateDir }));
  await until(() => search.indexer.behind === 0 && search.index.sizeOf("2026") === 4);
  t.same(await contentOf(search), ["2026/0", "2026/1", "2026/2", "2026/3", "2026-2/0", "2026-2/1"]);
});

t.test(
  "behind a damaged shard searches go on and say what may be missing; once it is mended everything is found",
  async (t) => {
    const log = await new WrittenLog(temporaryFolder(t)).open("2026");
    await log.append(keyLists(300));
    const tile = join(log.logDir, tilePath({ level: "entries", index: 1, width: 44 }));
    const bytes = readFileSync(tile);
    chmodSync(tile, 0o600);
    writeFileSync(tile, "");
    await log.open("2027");
    await log.append(keyLists(5));
    const first = await Search.on(t, log);
    t.match(await first.get("/events", { limit: 1_000 }), {
      incomplete: ["2026"],
      events: { length: 5 },
    });
    await first.close();
    writeFileSync(tile, bytes);
    const second = await Search.on(t, log);
    await log.append(keyLists(1));
    await until(() => second.index.sizeOf("2027") === 6);
    const { events, incomplete } = await second.get("/events", { limit: 1_000 });
    t.same([events.length, incomplete], [306, []]);
  },
);

t.test("rows of a shard that can't be read for a moment stay in the index", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300));
  await (await Search.on(t, log)).close();
  const checkpoint = join(log.logDir, "checkpoint");
  await log.open("2027");
  await log.append(keyLists(5));
  renameSync(checkpoint, `${checkpoint}.away`);
  const search = new Search(t, log);
  await search.follower.start();
  const { events, behind, incomplete } = await search.get("/events", { limit: 1_000 });
  t.same([events.length, behind, incomplete], [300, 5, ["2026"]]);
  renameSync(`${checkpoint}.away`, checkpoint);
  await search.follower.start();
  await search.caughtUp();
  t.same([search.index.sizeOf("2026"), search.index.sizeOf("2027"), search.rebuilds], [300, 5, []]);
});

t.test("the leading column's own index gives the order: no search sorts or scans", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  const search = await Search.on(t, log);
  const filters: [EventFilter, RegExp][] = [
    [{ order: "newest" }, /SEARCH events USING INTEGER PRIMARY KEY/],
    [
      { order: "newest", type: "key.list", prod: "auditd", phase: "fact" },
      /USING INDEX events_type \(type=\? AND rowid>\? AND rowid<\?\)/,
    ],
    [{ order: "oldest", op: "x", type: "key.list" }, /USING INDEX events_op/],
    [{ order: "newest", outcome: "denied", kind: "job" }, /USING INDEX events_outcome/],
    [{ order: "newest", object: "job-1" }, /USING INDEX events_object/],
  ];
  for (const [filter, index] of filters) {
    const plan = search.index.planOf(filter);
    t.match(plan, index);
    t.notMatch(plan, /TEMP B-TREE|SCAN/);
  }
  const bounded = search.index.planOf({ order: "newest", sub: "usr-1", type: "key.list" });
  t.match(bounded, /USING INDEX events_actor/);
  t.match(bounded, /USING INDEX events_on_behalf_of/);
  t.notMatch(bounded, /SCAN/);
});

t.test("objects are found by how their ids begin, whether few do or many", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  const ofJob = (id: string): EventDraft => ({
    ...jobSubmit(),
    phase: "requested",
    object: { kind: "job", id },
  });
  const few = ["job-7f3a", "job-7f", "job-7e", "job-7g", "job-7f.x", "Job-7f", "job-7f3a"];
  await log.append(few.map(ofJob));
  await log.append([
    ...keyLists(2, "usr-2"),
    ...Array.from({ length: 4_001 }, () => ofJob("many-1")),
  ]);
  const search = await Search.on(t, log);
  const indices = async (query: Record<string, string | number>): Promise<number[]> =>
    (await search.all({ limit: 1_000, ...query })).map((place) => Number(place.split("/")[1]));
  const cases: [Record<string, string>, number[]][] = [
    [{ objectPrefix: "job-7f" }, [6, 4, 1, 0]],
    [{ objectPrefix: "job-7f", order: "oldest" }, [0, 1, 4, 6]],
    [{ objectPrefix: "job-7f3" }, [6, 0]],
    [{ objectPrefix: "job-7h" }, []],
    [{ objectPrefix: "job-7", object: "job-7e" }, [2]],
    [{ objectPrefix: "job-7f", type: "job.cancel" }, []],
    [{ objectPrefix: "job-7f", sub: "usr-1" }, [6, 4, 1, 0]],
    [{ objectPrefix: "job-7f", sub: "usr-2" }, []],
  ];
  for (const [query, expected] of cases)
    t.same(await indices(query), expected, JSON.stringify(query));
  const many = await indices({ objectPrefix: "many" });
  t.same([many.length, many[0], many.at(-1)], [4_001, 4_009, 9]);
  t.equal(
    (await indices({ objectPrefix: "many", type: "job.submit", sub: "usr-1" })).length,
    4_001,
  );
  await t.rejects(search.get("/events", { objectPrefix: "job-7*" }), { code: "query_invalid" });
  const plan = search.index.planOf({ order: "newest", objectPrefix: "job" }, true);
  t.match(plan, /USING COVERING INDEX events_object \(object>\? AND object<\?/);
  t.match(plan, /SEARCH events USING INTEGER PRIMARY KEY/);
  for (const isRare of [true, false])
    t.notMatch(
      search.index.planOf({ order: "newest", objectPrefix: "job" }, isRare),
      /TEMP B-TREE|SCAN/,
    );
});

t.test("a shard that was deleted is followed no more, and nothing of it is found", async (t) => {
  const log = await new WrittenLog(temporaryFolder(t)).open("2026");
  await log.append(keyLists(300, "usr-old"));
  const deleted = log.logDir;
  await log.open("2027");
  await log.append(keyLists(10, "usr-new"));
  const search = await Search.on(t, log);
  t.equal((await search.get("/events", { sub: "usr-old" })).events.length > 0, true);
  renameSync(deleted, `${deleted}.deleted.${crypto.randomUUID()}`);
  await until(() => search.follower.shards.length === 1);
  await log.append(keyLists(1, "usr-new"));
  await until(() => search.index.slugs.length === 1 && search.indexer.behind === 0);
  t.same((await search.get("/events", { sub: "usr-old" })).events, []);
  t.equal((await search.get("/events", { sub: "usr-new" })).events.length, 11);
  t.equal(search.follower.fault, null);
});
