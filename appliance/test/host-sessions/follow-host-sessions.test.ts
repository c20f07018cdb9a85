/** On real files: what rotations, cuts, kills and an absent auditd do to the records. */
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AuditRejected, AuditUnavailable } from "@resontech/audit/producer";
import type { Disclosure } from "@resontech/contracts/audit-event";
import { pino } from "pino";
import t, { type Test } from "tap";
import { followHostSessions } from "../../src/host-sessions/follow-host-sessions.ts";
import type { HostSessionDraft } from "../../src/host-sessions/session-record.ts";
import { nowSeconds, signIn, signOut, utmpBytes } from "./utmp-bytes.ts";

type Told = { is: "in" | "out"; pid: number; op: string; values: string[] };

/** One host: its file, the kept position, and what was told of it by all followers so far. */
class Host {
  readonly folder: string;
  readonly wtmpFile: string;
  readonly stateFile: string;
  readonly told: Told[] = [];
  readonly said: string[] = [];
  /** What auditd answers instead of taking a record. */
  answer: (pid: number) => Promise<void> = () => Promise.resolve();
  #waiting: (() => void)[] = [];
  #ending = new AbortController();
  #ended: Promise<void> = Promise.resolve();

  constructor(t: Test, content: Buffer | null = Buffer.alloc(0)) {
    this.folder = t.testdir({ log: {}, state: {} });
    this.wtmpFile = join(this.folder, "log", "wtmp");
    this.stateFile = join(this.folder, "state", "host-sessions.json");
    if (content !== null) writeFileSync(this.wtmpFile, content);
    t.teardown(() => this.end());
  }

  begin(pollMs = 5): void {
    this.#ending = new AbortController();
    const { wtmpFile, stateFile } = this;
    const { signal } = this.#ending;
    const record = async (
      draft: HostSessionDraft,
      disclosures: readonly Disclosure[],
    ): Promise<void> => {
      const { type, op, detail } = draft;
      await this.answer(detail!.pid);
      const values = disclosures.map(({ value }) => value);
      this.told.push({
        is: type === "auth.host.login" ? "in" : "out",
        pid: detail!.pid,
        op,
        values,
      });
      this.#notify();
    };
    const write = (line: string): void => {
      this.said.push((JSON.parse(line) as { msg: string }).msg);
      this.#notify();
    };
    this.#ended = followHostSessions({
      wtmpFile,
      stateFile,
      record,
      log: pino({}, { write }),
      signal,
      pollMs,
    });
  }

  /** Follows from the file's end on. */
  async begun(pollMs?: number): Promise<void> {
    this.begin(pollMs);
    await this.until(() => existsSync(this.stateFile));
  }

  async end(): Promise<void> {
    this.#ending.abort();
    await this.#ended;
  }

  append(...records: Buffer[]): void {
    appendFileSync(this.wtmpFile, Buffer.concat(records));
  }

  /** As logrotate does. @param daysAgo when the last record came */
  rotate(name: string, daysAgo = 0): void {
    renameSync(this.wtmpFile, `${this.wtmpFile}${name}`);
    const lastS = nowSeconds() - 86_400 * daysAgo;
    utimesSync(`${this.wtmpFile}${name}`, lastS, lastS);
    writeFileSync(this.wtmpFile, "");
  }

  /** Until this one was told, and therefore all before it. */
  toldOf(pid: number, is: "in" | "out" = "in"): Promise<void> {
    return this.until(() => this.told.some((one) => one.pid === pid && one.is === is));
  }

  async until(condition: () => boolean): Promise<void> {
    for (let timer: NodeJS.Timeout | undefined; !condition(); clearTimeout(timer)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#waiting.push(resolve);
      // What no follower tells of: a file that it writes.
      timer = setTimeout(resolve, 10);
      await promise;
    }
  }

  /** Bytes that the kept position is past; of what is no session it is kept when a look is over. */
  get offset(): number {
    return (JSON.parse(readFileSync(this.stateFile, "utf8")) as { offset: number }).offset;
  }

  get pids(): number[] {
    return this.told.map(({ pid }) => pid);
  }

  #notify(): void {
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

t.test(
  "the first start begins at the end; what comes then is told, in order, and what is no session passed over",
  async (t) => {
    const host = new Host(t, Buffer.concat([signIn(1), signIn(2)]));
    await host.begun();
    host.append(
      ...[
        signOut(1),
        utmpBytes({ type: 6, pid: 3, line: "tty1", user: "LOGIN" }),
        signOut(3, { line: "tty1" }),
      ],
      ...[signIn(4, { user: "bob", host: "desk", address: "10.0.0.7" }), signIn(5), signOut(4)],
    );
    await host.toldOf(4, "out");
    t.match(host.told, [
      { is: "in", pid: 4, values: ["desk", "bob", "10.0.0.7"] },
      { is: "in", pid: 5, values: ["alice"] },
      { is: "out", pid: 4, values: [], op: host.told[0]!.op },
    ]);
    t.equal(host.told.length, 3);
    t.same(host.said, []);
  },
);

t.test(
  "a torn last record waits for the rest of it; one that was cut off is told of what took its place",
  async (t) => {
    const whole = signIn(1);
    const host = new Host(t, whole.subarray(0, 100));
    await host.begun();
    host.append(whole.subarray(100), signIn(2).subarray(0, 383));
    await host.toldOf(1);
    truncateSync(host.wtmpFile, 384);
    host.append(signIn(3));
    await host.toldOf(3);
    t.same(host.pids, [1, 3]);
  },
);

t.test("a rotation loses nothing, also when the old file is gone at once", async (t) => {
  const host = new Host(t);
  await host.begun();
  host.append(signIn(1));
  // Which of two is the older their times say.
  host.rotate(".1", 1);
  host.append(signIn(2), signOut(1), signOut(9));
  await host.until(() => host.offset === 3 * 384);
  host.append(signIn(3));
  host.rotate(".2");
  rmSync(`${host.wtmpFile}.2`);
  host.append(signIn(4));
  await host.toldOf(4);
  t.same(host.pids, [1, 2, 1, 3, 4]);
});

t.test("a rotation in the moment in which the file is looked for loses nothing", async (t) => {
  for (let time = 0; time < 60; time += 1) {
    const host = new Host(t);
    await host.begun();
    host.append(signIn(1));
    host.rotate(".1", 1);
    host.append(signIn(2));
    await host.toldOf(2);
    t.same(host.pids, [1, 2]);
    await host.end();
  }
});

t.test("what a writer who was late puts into the old file is told", async (t) => {
  const host = new Host(t);
  await host.begun(1_000);
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  host.answer = () => {
    asked.resolve();
    return answered.promise;
  };
  host.append(signIn(1));
  await asked.promise;
  host.rotate(".1");
  host.append(signIn(3));
  answered.resolve();
  // It has seen the rotation by then; if it has not, nothing is easier.
  await sleep(200);
  appendFileSync(`${host.wtmpFile}.1`, signIn(2));
  await host.toldOf(3);
  t.same(host.pids, [1, 2, 3]);
});

for (const names of [
  [".1", ".2"],
  ["-20260201", "-20260101"],
] as const)
  t.test(`rotations while nobody looked, as ${names.join(" and ")}, lose nothing`, async (t) => {
    const host = new Host(t);
    await host.begun();
    host.append(signIn(1));
    await host.toldOf(1);
    await host.end();
    host.append(signIn(2));
    host.rotate(names[1], 2);
    host.append(signIn(3));
    host.rotate(names[0], 1);
    host.append(signOut(1), signIn(4));
    // What is none of them is not read.
    writeFileSync(`${host.wtmpFile}.1.gz`, signIn(9));
    mkdirSync(`${host.wtmpFile}.7`);
    host.begin();
    await host.toldOf(4);
    t.same(host.pids, [1, 2, 3, 1, 4]);
    t.same(host.said, []);
  });

t.test(
  "a file that is copied and cut is followed through its copy, whether somebody looks or not",
  async (t) => {
    const host = new Host(t);
    const copyAndCut = (): void => {
      copyFileSync(host.wtmpFile, `${host.wtmpFile}.1`);
      truncateSync(host.wtmpFile, 0);
    };
    await host.begun();
    host.append(signIn(1), signIn(2));
    await host.toldOf(2);
    copyAndCut();
    host.append(signIn(3));
    await host.toldOf(3);
    await host.end();
    host.append(signIn(4));
    copyAndCut();
    host.append(signIn(5), signIn(6), signIn(7));
    host.begin();
    await host.toldOf(7);
    t.same(host.pids, [1, 2, 3, 4, 5, 6, 7]);
  },
);

t.test(
  "a file that is cut is followed from its beginning, even where it has grown beyond the place by then",
  async (t) => {
    const host = new Host(t);
    await host.begun();
    host.append(signIn(1));
    await host.toldOf(1);
    await host.end();
    writeFileSync(host.wtmpFile, Buffer.concat([signIn(2), signIn(3)]));
    host.begin();
    await host.toldOf(3);
    truncateSync(host.wtmpFile, 0);
    host.append(signIn(4));
    await host.toldOf(4);
    t.same(host.pids, [1, 2, 3, 4]);
    t.match(host.said, [/cut or replaced/, /cut or replaced/]);
  },
);

t.test(
  "a file from which records were taken away tells nothing twice, and nothing from before the install",
  async (t) => {
    const atS = nowSeconds() - 100;
    const before = signIn(1, { seconds: atS });
    const [two, three] = [signIn(2, { seconds: atS + 1 }), signIn(3, { seconds: atS + 2 })];
    const host = new Host(t, before);
    await host.begun();
    host.append(two, three);
    await host.toldOf(3);
    writeFileSync(host.wtmpFile, Buffer.concat([before, three]));
    host.append(signIn(4));
    await host.toldOf(4);
    await host.end();
    writeFileSync(
      `${host.wtmpFile}.new`,
      Buffer.concat([before, signIn(4, { seconds: atS }), signIn(5)]),
    );
    renameSync(`${host.wtmpFile}.new`, host.wtmpFile);
    host.begin();
    await host.toldOf(5);
    t.same(host.pids, [2, 3, 4, 5]);
  },
);

t.test(
  "without a file nothing is observed, which is said once; all of one that appears is told",
  async (t) => {
    const host = new Host(t, null);
    await host.begun();
    await host.until(() => host.said.length > 0);
    writeFileSync(host.wtmpFile, signIn(1));
    await host.toldOf(1);
    await host.until(() => host.said.length > 1);
    t.match(host.said, [/keeps no file of its sign-ins/, /are observed/]);
  },
);

t.test("a link in the file's place is not followed, which is said once", async (t) => {
  const host = new Host(t, null);
  symlinkSync("/dev/null", host.wtmpFile);
  host.begin();
  await host.until(() => host.said.length > 0);
  rmSync(host.wtmpFile);
  await host.until(() => existsSync(host.stateFile));
  t.match(host.said[0], /can't be followed/);
  t.equal(host.said.filter((line) => line.includes("can't be followed")).length, 1);
});

t.test("while auditd is away sign-ins wait in their order, and none is lost", async (t) => {
  const host = new Host(t);
  await host.begun();
  let tries = 0;
  host.answer = async (pid) => {
    tries += 1;
    if (pid === 1 && tries < 5)
      throw new AuditUnavailable("disconnected", "no connection to auditd");
  };
  host.append(signIn(1), signIn(2), signOut(1));
  await host.toldOf(1, "out");
  t.same(host.pids, [1, 2, 1]);
  t.equal(tries, 7);
  t.match(host.said, [/the audit log is away/]);
});

t.test("a record that the log refuses does not hold up the next", async (t) => {
  const host = new Host(t);
  await host.begun();
  host.answer = async (pid) => {
    if (pid === 1) throw new AuditRejected("schema", "it breaks a rule");
  };
  host.append(signIn(1), signIn(2));
  await host.toldOf(2);
  t.same(host.pids, [2]);
  t.match(host.said, [/refuses a record/]);
});

t.test(
  "one that is ended while a record is under way tells it again at its next start",
  async (t) => {
    const host = new Host(t);
    await host.begun();
    const asked = Promise.withResolvers<void>();
    host.answer = () => {
      asked.resolve();
      return Promise.withResolvers<void>().promise;
    };
    host.append(signIn(1));
    await asked.promise;
    await host.end();
    t.same(host.pids, []);
    host.answer = () => Promise.resolve();
    host.begin();
    await host.toldOf(1);
    t.same(host.pids, [1]);
  },
);

t.test(
  "a position older than the log tells again what followed it, and pairs what ends",
  async (t) => {
    const host = new Host(t);
    await host.begun();
    host.append(signIn(1), signIn(2));
    await host.toldOf(2);
    await host.end();
    const older = readFileSync(host.stateFile);
    host.begin();
    host.append(signIn(3), signOut(1));
    await host.toldOf(1, "out");
    await host.end();
    // As kill -9 leaves it between the log's answer and the file.
    writeFileSync(host.stateFile, older);
    host.begin();
    host.append(signIn(4));
    await host.toldOf(4);
    t.same(host.pids, [1, 2, 3, 1, 3, 1, 4]);
    t.equal(host.told[3]!.op, host.told[0]!.op);
    t.equal(host.told[5]!.op, host.told[0]!.op);
  },
);

t.test("the kept position is root's alone and names nobody", async (t) => {
  const host = new Host(t);
  await host.begun();
  host.append(signIn(1, { user: "canary-name", host: "canary-host" }));
  await host.toldOf(1);
  await host.end();
  t.equal(statSync(host.stateFile).mode & 0o777, 0o600);
  t.match(JSON.parse(readFileSync(host.stateFile, "utf8")), {
    offset: 384,
    open: [{ pid: 1, line: "pts/1" }],
  });
  t.notMatch(readFileSync(host.stateFile, "utf8"), /canary/);
});

for (const damage of ["not JSON", '{"v":1,"offset":-384}'])
  t.test(
    `a damaged position (${damage}) is said, and what is younger than it is told`,
    async (t) => {
      const host = new Host(t, Buffer.concat([signIn(1, { seconds: 1_000_000_000 })]));
      writeFileSync(host.stateFile, damage);
      host.append(signIn(2, { seconds: nowSeconds() + 1 }));
      host.begin();
      await host.toldOf(2);
      t.same(host.pids, [2]);
      t.match(host.said, [/can't be read/]);
    },
  );

t.test(
  "where the position can't be kept sign-ins are told all the same, which is said once",
  async (t) => {
    const host = new Host(t);
    await host.begun();
    renameSync(join(host.folder, "state"), join(host.folder, "elsewhere"));
    host.append(signIn(1), signIn(2));
    await host.toldOf(2);
    renameSync(join(host.folder, "elsewhere"), join(host.folder, "state"));
    await host.until(() => host.offset === 768);
    t.same(host.pids, [1, 2]);
    t.match(host.said, [/can't be kept/]);
  },
);
