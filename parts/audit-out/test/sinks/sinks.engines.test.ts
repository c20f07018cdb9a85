import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Sink as SinkConfig } from "@resontech/contracts/audit-out-config";
import t, { type Test } from "tap";
import { LogFollower } from "../../src/follow/log-follower.ts";
import type { OwnFact } from "../../src/reporter.ts";
import { CursorFile } from "../../src/sinks/cursor-file.ts";
import { receiverOf } from "../../src/sinks/open-sink.ts";
import { Sink } from "../../src/sinks/sink.ts";
import { tilePath } from "@resontech/audit/format/tree/tile-layout";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { lacksMount, SmallDisk } from "@resontech/audit/testing/small-disk";
import { keepingFacts } from "../helper/keeping-facts.ts";
import { keyLists, WrittenLog } from "../helper/written-log.ts";
import { silent } from "../helper/silent.ts";
import { until } from "@resontech/audit/testing/until";
import { type Certificate, TestAuthority } from "../helper/test-authority.ts";
import { SyslogServer } from "../helper/syslog-server.ts";

class Exporting {
  readonly log: WrittenLog;
  readonly root: string;
  readonly facts: OwnFact[] = [];
  /** Connections that the receiver did not take. */
  refused = 0;
  sink!: Sink;
  #follower!: LogFollower;

  constructor(t: Test, log: WrittenLog, root: string) {
    this.log = log;
    this.root = root;
    t.teardown(() => this.stop());
  }

  static async of(t: Test, config: (root: string) => SinkConfig): Promise<Exporting> {
    const root = temporaryFolder(t);
    const log = await new WrittenLog(root).open("2026");
    const exporting = new Exporting(t, log, root);
    await exporting.start(config(root));
    return exporting;
  }

  /** @param onceFollowed what happens to the log before the sink reads it */
  async start(config: SinkConfig, onceFollowed = (): void => {}): Promise<void> {
    this.#follower = new LogFollower(this.log.options, silent);
    await this.#follower.start();
    onceFollowed();
    const { open, confirmMs } = await receiverOf(config);
    const counted: typeof open = (signal) =>
      open(signal).catch((error: unknown) => {
        this.refused += 1;
        throw error;
      });
    this.sink = await Sink.start({
      ...{
        name: config.name,
        open: counted,
        confirmMs,
        retryMs: 20,
        follower: this.#follower,
        log: silent,
      },
      skipDamaged: config.skipDamaged ?? [],
      cursor: new CursorFile(this.log.stateDir, config.name),
      reporter: keepingFacts(this.facts),
    });
  }

  /** Until the receiver has everything for good. */
  done(): Promise<void> {
    return until(
      () => this.sink.status.lag === 0 && this.sink.status.cursor?.index === this.log.size,
      20_000,
    );
  }

  async stop(): Promise<void> {
    await this.sink[Symbol.asyncDispose]();
    await this.#follower[Symbol.asyncDispose]();
  }
}

const toFile = (root: string, rotateBytes = 65_536): SinkConfig => {
  mkdirSync(join(root, "out"), { recursive: true });
  return {
    name: "siem",
    format: "leaf",
    target: { kind: "file", folder: join(root, "out"), rotateBytes },
  };
};

const filesOf = (root: string): string[] => readdirSync(join(root, "out")).sort();

/** Indices of every line of every file; a line that is none fails. */
function indicesOf(root: string, out = join(root, "out")): number[] {
  const text = readdirSync(out)
    .sort()
    .map((file) => readFileSync(join(out, file), "utf8"));
  return text
    .join("")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line).index);
}

/** How many whole lines there are; the file may be in the middle of another. */
const wholeLinesOf = (root: string): number =>
  filesOf(root).reduce(
    (lines, file) => lines + readFileSync(join(root, "out", file), "utf8").split("\n").length - 1,
    0,
  );

const upTo = (count: number): number[] => Array.from({ length: count }, (_, at) => at);

t.test(
  "files hold every entry in order, each file named by its first and closed at its size",
  async (t) => {
    const exporting = await Exporting.of(t, toFile);
    const { log, root } = exporting;
    await log.append(keyLists(700));
    await exporting.done();
    t.same(indicesOf(root), upTo(700));
    const files = filesOf(root);
    t.ok(files.length > 3, `${files.length} files`);
    for (const file of files) {
      const [first = ""] = readFileSync(join(root, "out", file), "utf8").split("\n");
      t.equal(file, `siem-2026-${String(JSON.parse(first).index).padStart(16, "0")}.log`);
      t.equal(statSync(join(root, "out", file)).mode & 0o007, 0);
    }
    for (const file of files.slice(0, -1)) t.ok(statSync(join(root, "out", file)).size >= 65_536);
  },
);

t.test(
  "a receiver in a file goes on after its cursor, and half a line of a killed life goes",
  async (t) => {
    const exporting = await Exporting.of(t, toFile);
    const { log, root } = exporting;
    await log.append(keyLists(100));
    await exporting.done();
    await exporting.stop();
    const last = filesOf(root).at(-1)!;
    appendFileSync(join(root, "out", last), '{"index":100,"leaf":{"act');
    await log.append(keyLists(100));
    await exporting.start(toFile(root));
    await exporting.done();
    t.same(indicesOf(root), upTo(200));
  },
);

t.test(
  "a folder that can't be written loses nothing, is told of once, and its recovery too",
  async (t) => {
    const exporting = await Exporting.of(t, toFile);
    const { log, root, facts } = exporting;
    rmSync(join(root, "out"), { recursive: true });
    await log.append(keyLists(10));
    await until(() => exporting.sink.status.state === "failing");
    await log.append(keyLists(10));
    await until(() => exporting.sink.status.lag === 20);
    t.match(exporting.sink.status, { cursor: null, error: /ENOENT/ });
    await pause(200);
    mkdirSync(join(root, "out"));
    await exporting.done();
    t.same(indicesOf(root), upTo(20));
    t.match(facts, [
      { type: "audit.sink", detail: { sink: "siem", state: "failing", cursor: 0 } },
      { type: "audit.sink", detail: { sink: "siem", state: "recovered", cursor: 20 } },
    ]);
    t.equal(facts.length, 2);
  },
);

t.test(
  "a disk that is full in the middle of a line loses nothing",
  { skip: lacksMount },
  async (t) => {
    const disk = new SmallDisk(t, 4_096);
    const target = { kind: "file", folder: disk.folder, rotateBytes: 1_048_576 } as const;
    const exporting = await Exporting.of(t, () => ({ name: "siem", format: "leaf", target }));
    const { log } = exporting;
    // One at a time, as they come where little happens: each is confirmed before the next one is written.
    while (exporting.sink.status.state !== "failing" && log.size < 12) {
      await log.append(keyLists(1));
      await until(
        () =>
          exporting.sink.status.state === "failing" ||
          exporting.sink.status.cursor?.index === log.size,
      );
    }
    t.match(exporting.sink.status.error, /ENOSPC/);
    await log.append(keyLists(20));
    disk.resize(1_048_576);
    await exporting.done();
    t.same(indicesOf(disk.folder, disk.folder), upTo(log.size));
  },
);

t.test(
  "a file that was removed while it was written is noticed, and what went with it comes again",
  async (t) => {
    const exporting = await Exporting.of(t, toFile);
    const { log, root } = exporting;
    await log.append(keyLists(10));
    await until(() => wholeLinesOf(root) === 10);
    rmSync(join(root, "out", filesOf(root)[0]!));
    await exporting.done();
    t.same(indicesOf(root), upTo(10));
  },
);

t.test(
  "a sink stops before a damaged shard and says so, until it is told to pass it over: then the log says what was lost",
  async (t) => {
    const exporting = await Exporting.of(t, toFile);
    const { log, root, facts } = exporting;
    await log.append(keyLists(300));
    await exporting.done();
    await exporting.stop();
    await log.append(keyLists(400));
    const checkpoint = join(log.logDir, "checkpoint");
    chmodSync(checkpoint, 0o600);
    writeFileSync(checkpoint, readFileSync(checkpoint, "utf8").replace("\n700\n", "\n701\n"));
    await log.open("2027");
    await log.append(keyLists(5));
    await exporting.start(toFile(root));
    await until(() => exporting.sink.status.state === "failing");
    t.match(exporting.sink.status, { cursor: { slug: "2026", index: 300 }, lag: 5, error: /2026/ });
    t.match(facts, [
      { type: "audit.sink", detail: { sink: "siem", state: "failing", cursor: 300 } },
    ]);
    await exporting.stop();
    await exporting.start({ ...toFile(root), skipDamaged: ["2026"] });
    await exporting.done();
    t.same(indicesOf(root), [...upTo(300), ...upTo(5)]);
    t.match(facts.slice(1), [
      {
        type: "audit.sink",
        detail: {
          sink: "siem",
          state: "passed_over",
          cursor: 300,
          passed: { shard: "2026", from: 300 },
        },
      },
    ]);
    t.equal(facts.length, 2);
  },
);

t.test("what was read before a damaged bundle is confirmed", async (t) => {
  const exporting = await Exporting.of(t, toFile);
  const { log, root } = exporting;
  await exporting.stop();
  await log.append(keyLists(700));
  const bundle = join(log.logDir, tilePath({ level: "entries", index: 1, width: 256 }));
  chmodSync(bundle, 0o600);
  await exporting.start(toFile(root), () => writeFileSync(bundle, ""));
  await until(() => exporting.sink.status.cursor?.index === 256);
  t.same(indicesOf(root), upTo(256));
});

t.test("a cursor that is none stops the start: nobody is flooded unasked", async (t) => {
  const exporting = await Exporting.of(t, toFile);
  await exporting.stop();
  writeFileSync(join(exporting.log.stateDir, "siem.cursor"), "everything\n");
  await t.rejects(exporting.start(toFile(exporting.root)), { code: "config_invalid" });
});

type Site = { authority: TestAuthority; receiver: Certificate; server: SyslogServer };

async function site(t: Test): Promise<Site> {
  const authority = new TestAuthority(temporaryFolder(t));
  const server = new SyslogServer();
  t.teardown(() => server.close());
  return { authority, receiver: authority.issue("siem.example"), server };
}

const toSyslog = ({ authority, server }: Site, changes: object = {}): SinkConfig => ({
  name: "siem",
  format: "ocsf",
  target: {
    ...{
      kind: "syslog",
      host: "127.0.0.1",
      port: server.port,
      serverName: "siem.example",
      caFile: authority.caFile,
    },
    ...{ facility: 13, enterpriseNumber: 32_473, confirmMs: 100, ...changes },
  },
});

t.test("syslog: whole frames, in order, each entry once while nothing fails", async (t) => {
  const at = await site(t);
  await at.server.listen(at.receiver);
  const exporting = await Exporting.of(t, () => toSyslog(at));
  for (const count of [1, 300, 700]) {
    await exporting.log.append(keyLists(count));
    await exporting.done();
  }
  t.same(
    at.server.messages.map(({ index }) => index),
    upTo(1_001),
  );
  const [first] = at.server.messages;
  t.equal(first?.header, "<110>1 2026-03-01T00:00:01.000Z box audit coordinator-gate key.list");
  t.match(JSON.parse(first?.body ?? ""), {
    class_uid: 3004,
    unmapped: { log_index: 0, origin: "box.audit.acme/2026" },
  });
});

t.test(
  "syslog: a receiver that is away, killed in the middle of a frame, or comes back gets the same set of entries",
  async (t) => {
    const at = await site(t);
    await at.server.listen(at.receiver);
    at.server.close();
    const exporting = await Exporting.of(t, () => toSyslog(at));
    await exporting.log.append(keyLists(500));
    await until(() => exporting.sink.status.state === "failing");
    at.server.cutAfter = 333;
    await at.server.listen(at.receiver);
    const untilKilledAndBack = async (): Promise<void> => {
      await until(() => at.server.cutAfter === Number.POSITIVE_INFINITY);
      // The state alone may still be that of the time before: a receiver that is back before anybody saw it go is believed.
      const earlier = exporting.refused;
      await until(() => exporting.refused > earlier);
      await at.server.listen(at.receiver);
      await exporting.done();
    };
    await untilKilledAndBack();
    at.server.cutAfter = at.server.messages.length + 100;
    await exporting.log.append(keyLists(500));
    await untilKilledAndBack();
    at.server.close();
    await exporting.log.append(keyLists(20));
    await until(() => exporting.sink.status.state === "failing");
    await at.server.listen(at.receiver);
    await exporting.done();
    t.same(
      [...new Set(at.server.messages.map(({ index }) => index))].sort((a, b) => a - b),
      upTo(1_020),
      "nothing is missing",
    );
    for (const seen of at.server.connections)
      t.same(
        seen,
        [...seen].sort((a, b) => a - b),
        "order holds within a connection",
      );
    t.ok(
      at.server.messages.length < 1_020 + 3 * 500,
      `${at.server.messages.length} messages: what was not confirmed is sent again, not all`,
    );
  },
);

t.test(
  "syslog: what the receiver did not confirm by closing is not counted as taken",
  async (t) => {
    const at = await site(t);
    at.server.isMute = true;
    await at.server.listen(at.receiver);
    const exporting = await Exporting.of(t, () => toSyslog(at));
    await exporting.log.append(keyLists(5));
    await until(() => exporting.sink.status.state === "failing", 60_000);
    t.match(exporting.sink.status, { cursor: null, lag: 5, error: /did not close/ });
    at.server.isMute = false;
    await exporting.done();
  },
);

t.test("syslog: a receiver that closes and is gone is not believed to have read", async (t) => {
  const at = await site(t);
  await at.server.listen(at.receiver);
  const exporting = await Exporting.of(t, () => toSyslog(at, { confirmMs: 1_000 }));
  await exporting.log.append(keyLists(5));
  await until(() => at.server.messages.length === 5);
  at.server.close();
  await until(() => exporting.sink.status.state === "failing");
  t.equal(exporting.sink.status.cursor, null);
  await at.server.listen(at.receiver);
  await exporting.done();
  t.equal(at.server.messages.length, 10, "they came again");
});

t.test(
  "syslog: a certificate of another name, or of another authority, gets nothing",
  async (t) => {
    const at = await site(t);
    await at.server.listen(at.authority.issue("other.example"));
    const misnamed = await Exporting.of(t, () => toSyslog(at));
    await misnamed.log.append(keyLists(5));
    await until(() => misnamed.sink.status.state === "failing");
    t.match(misnamed.sink.status.error, /altnames/i);
    const stranger = new TestAuthority(temporaryFolder(t));
    const foreign = await Exporting.of(t, () =>
      toSyslog({ ...at, authority: stranger }, { serverName: "other.example" }),
    );
    await foreign.log.append(keyLists(5));
    await until(() => foreign.sink.status.state === "failing");
    t.match(foreign.sink.status.error, /certificate/i);
    t.equal(at.server.messages.length, 0);
  },
);

t.test(
  "syslog: a receiver that asks for our certificate gets it, and its key must be ours alone",
  async (t) => {
    const at = await site(t);
    await at.server.listen(at.receiver, at.authority.caFile);
    const client = at.authority.issue("appliance.example");
    chmodSync(client.keyFile, 0o644);
    await t.rejects(receiverOf(toSyslog(at, { client })), {
      code: "config_invalid",
      message: /open to others/,
    });
    chmodSync(client.keyFile, 0o400);
    const exporting = await Exporting.of(t, () => toSyslog(at, { client }));
    await exporting.log.append(keyLists(5));
    await exporting.done();
    t.equal(at.server.clients[0], "appliance.example");
  },
);
