/** A database that is followed while a process writes it as fast as it can: what is lost, what is found, and what of the log is kept. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import t, { type Test } from "tap";
import { followedChain, followedFile } from "../../src/decisions/followed-chain.ts";
import { followedUpTo, restoreFollowed } from "../../src/open/restore-followed.ts";
import { checkDatabase } from "../../src/parts/database-part.ts";
import { makeRecoveryKey, readRecoveryKey } from "../../src/recovery-key.ts";
import { claimTarget } from "../../src/take/claim-target.ts";
import { openTarget } from "../../src/targets/open-target.ts";

const made = makeRecoveryKey("box.acme");
const key = readRecoveryKey(made.sheet);
const LIMITS = { release: "0.9.0", upToMs: null, fromMs: 0 };
const helper = (name: string): string => join(import.meta.dirname, "..", "helper", name);

type Row = { id: number; at: number; text: string };

/** A process and what it said last. */
class Said implements Disposable {
  readonly process: ChildProcess;
  readonly lines: string[] = [];

  constructor(program: string, ...args: string[]) {
    this.process = spawn(process.execPath, [helper(program), ...args], {
      ...{ stdio: ["ignore", "pipe", "inherit"] },
      env: { ...process.env, SIGNING_KEY: made.signingKeyPem },
    });
    this.process.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.lines.push(...text.split("\n").filter((line) => line !== ""));
    });
  }

  get last(): string {
    return this.lines.at(-1) ?? "";
  }
  /** Of a follower. */
  get upToMs(): number {
    return Number(this.last.split(" ")[0] ?? 0);
  }

  async until(holds: (said: Said) => boolean, what: string): Promise<void> {
    for (const endsAt = Date.now() + 120_000; !holds(this); await sleep(10))
      if (Date.now() > endsAt) throw new Error(`never: ${what}; ${this.last}`);
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(this.process, "exit");
    this.process.kill(signal);
    await ended;
  }

  [Symbol.dispose](): void {
    this.process.kill("SIGKILL");
  }
}

class House {
  readonly file: string;
  readonly targetFolder: string;
  readonly #dir: string;
  #restores = 0;

  constructor(t: Test) {
    this.#dir = t.testdir({ data: {}, target: {} });
    this.file = join(this.#dir, "data", "c.db");
    this.targetFolder = join(this.#dir, "target");
  }

  async writer(pauseMs = 0): Promise<Said> {
    const said = new Said("write-database.ts", this.file, String(pauseMs));
    await said.until(({ lines }) => lines.includes("ready"), "a writer");
    return said;
  }

  async follower(maxAwayMs = 30_000): Promise<Said> {
    await claimTarget(await openTarget(this.targetFolder), "box.acme", made.keys.signer);
    const { file, targetFolder } = this;
    const said = new Said(
      "follow-process.ts",
      ...[file, targetFolder, made.keys.recipient, String(maxAwayMs)],
    );
    await said.until(({ upToMs }) => upToMs > 0, "a first whole state");
    return said;
  }

  /** What is committed; asked while the follower reads: a writer that was killed in a commit has told nobody of it, and SQLite would take it up later. */
  rows(file = this.file): Row[] {
    const db = new Database(file, { readonly: true });
    try {
      return db.prepare<[], Row>("SELECT * FROM entries ORDER BY id").all();
    } finally {
      db.close();
    }
  }

  async restored(limits: Partial<Parameters<typeof restoreFollowed>[3]> = {}) {
    const file = join(this.#dir, `restored-${(this.#restores += 1)}.db`);
    const target = await openTarget(this.targetFolder);
    const done = await restoreFollowed(target, key, file, { ...LIMITS, ...limits });
    if (done === null) return null;
    checkDatabase(file);
    return { ...done, rows: this.rows(file) };
  }

  files(): string[] {
    return readdirSync(this.targetFolder, { recursive: true, encoding: "utf8" }).filter((name) =>
      name.endsWith(".age"),
    );
  }

  chain() {
    return followedChain(this.files().flatMap((path) => followedFile(path) ?? []));
  }

  path(name: string): string {
    return join(this.targetFolder, name);
  }
}

t.test("with everything killed, what the follower said that it has comes back", async (t) => {
  const house = new House(t);
  using writer = await house.writer();
  using follower = await house.follower();
  const emptied = () => writer.lines.filter((line) => line.startsWith("emptied"));
  await writer.until(() => emptied().length > 5, "the writer empties its log, again and again");
  await writer.until(() => house.rows().length > 200, "many rows");
  // How far behind it may be is measured by the proof restore-drill.
  const wroteAtMs = Date.now();
  await follower.until(({ upToMs }) => upToMs > wroteAtMs, "it keeps up");
  await Promise.all([writer.end("SIGKILL"), follower.end("SIGKILL")]);
  const saidMs = follower.upToMs;
  const restored = await house.restored();
  const was = house.rows();
  const held = new Set(restored?.rows.map(({ id }) => id));
  const lost = was.filter(({ id }) => !held.has(id));
  t.ok(was.length > 200, `${was.length} rows were committed`);
  t.comment(`${was.length} rows; ${lost.length} lost`);
  // A row was committed before the next one was begun.
  const early = was.filter((_, index) => (was[index + 1]?.at ?? Number.POSITIVE_INFINITY) < saidMs);
  t.same(
    early.filter(({ id }) => !held.has(id)),
    [],
    "no row is lost from before the time that it said",
  );
  t.ok((restored?.upToMs ?? 0) >= saidMs, "and the restore says how far it goes");
  t.ok(statSync(`${house.file}-wal`).size < 64 * 1024 ** 2, "so it did not grow without end");
  const byId = new Map(was.map((row) => [row.id, row.text]));
  const isSame = ({ id, text }: Row): boolean => !byId.has(id) || byId.get(id) === text;
  t.ok(restored?.rows.every(isSame), "what came back is what was written");
});

t.test("a planned end leaves nothing behind, and another follower takes over", async (t) => {
  const house = new House(t);
  using writer = await house.writer(5);
  using first = await house.follower();
  const from = first.upToMs;
  await first.until(({ upToMs }) => upToMs > from, "changes are followed");
  await first.end("SIGTERM");
  using second = await house.follower();
  const streams = new Set(house.files().map((name) => name.split("/")[1]));
  await second.until(
    () => new Set(house.files().map((name) => name.split("/")[1])).size === 1,
    "one stream",
  );
  t.notSame([...streams], []);
  await writer.end("SIGTERM");
  const endedAtMs = Date.now();
  await second.until(({ upToMs }) => upToMs > endedAtMs, "it has the last row");
  const rows = house.rows();
  await second.end("SIGTERM");
  t.same((await house.restored())?.rows, rows);
});

for (const [how, maxAwayMs] of [
  ["briefly is tried again", 30_000],
  ["for longer is begun anew", 1],
] as const)
  t.test(`a target that is away ${how}, and nothing is missing once it is back`, async (t) => {
    const house = new House(t);
    using _writer = await house.writer(2);
    using follower = await house.follower(maxAwayMs);
    const streamsOf = () => new Set(house.files().map((name) => name.split("/")[1]));
    const [first] = streamsOf();
    const away = `${house.targetFolder}-away`;
    renameSync(house.targetFolder, away);
    // What an unmounted disk leaves.
    mkdirSync(house.targetFolder);
    await follower.until(({ last }) => !last.endsWith(" -"), "a failure");
    const before = follower.upToMs;
    const said = follower.lines.length;
    await follower.until(({ lines }) => lines.length >= said + 2, "it is tried again");
    t.equal(follower.upToMs, before, "it says how far it is behind");
    t.same(readdirSync(house.targetFolder), [], "nothing is put where nobody mounted anything");
    rmdirSync(house.targetFolder);
    renameSync(away, house.targetFolder);
    const backAtMs = Date.now();
    await follower.until(
      ({ upToMs, last }) => upToMs > backAtMs && last.endsWith(" -"),
      "it is back",
    );
    t.equal(streamsOf().has(first), maxAwayMs > 1);
    await _writer.end("SIGKILL");
    const endedAtMs = Date.now();
    await follower.until(({ upToMs }) => upToMs > endedAtMs, "it has the last row");
    const rows = house.rows();
    await follower.end("SIGTERM");
    t.same((await house.restored())?.rows, rows);
  });

t.test("a cut between any two files leaves a whole state, and each is newer", async (t) => {
  const house = new House(t);
  using writer = await house.writer(2);
  using follower = await house.follower();
  const followed = () => house.chain()?.changes.length ?? 0;
  await follower.until(() => followed() > 6, "several changes");
  await writer.end("SIGKILL");
  await follower.end("SIGKILL");
  const chain = house.chain();
  const changes = chain?.changes ?? [];
  t.ok(changes.length > 5, `${changes.length} changes`);
  let [rows, upToMs] = [-1, 0];
  for (const upTo of [chain?.whole.atMs ?? 0, ...changes.map(({ atMs }) => atMs)]) {
    const restored = await house.restored({ upToMs: upTo });
    t.ok((restored?.rows.at(-1)?.id ?? 0) >= rows && (restored?.upToMs ?? 0) >= upToMs);
    [rows, upToMs] = [restored?.rows.at(-1)?.id ?? 0, restored?.upToMs ?? 0];
  }
  t.equal(upToMs, await followedUpTo(await openTarget(house.targetFolder)));
  t.equal(await house.restored({ fromMs: upToMs + 1 }), null, "older than the backup: of no use");
  t.equal(await house.restored({ release: "1.0.0" }), null, "of another release: of no use");
});

t.test(
  "a byte that was changed, a file that is missing and one that was swapped are found",
  async (t) => {
    const house = new House(t);
    using writer = await house.writer(2);
    using follower = await house.follower();
    await follower.until(() => (house.chain()?.changes.length ?? 0) > 5, "several changes");
    await writer.end("SIGKILL");
    await follower.end("SIGKILL");
    const { whole, changes = [] } = house.chain() ?? {};
    const [before, third, fourth] = [changes[1], changes[2], changes[3]];
    if (whole === undefined || before === undefined || third === undefined || fourth === undefined)
      throw new Error("too few files");
    for (const one of [whole, third]) {
      const bytes = readFileSync(house.path(one.path));
      for (const at of [20, bytes.length >> 1, bytes.length - 1]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ 1;
        writeFileSync(house.path(one.path), changed);
        await t.rejects(house.restored(), { message: new RegExp(one.path) }, `byte ${at}`);
      }
      writeFileSync(house.path(one.path), bytes);
    }
    const bytes = readFileSync(house.path(third.path));
    rmSync(house.path(third.path));
    const missing = {
      code: "followed_damaged",
      message: new RegExp(`changes ${third.number} of .* are missing`),
    };
    await t.rejects(house.restored(), missing);
    writeFileSync(house.path(third.path), readFileSync(house.path(fourth.path)));
    await t.rejects(house.restored(), { message: /another name/ });
    rmSync(house.path(third.path));
    const upTo = new Date(before.atMs).toISOString();
    await t.rejects(
      house.restored(),
      { message: new RegExp(upTo) },
      "it says how far all is whole",
    );
    const less = await house.restored({ upToMs: before.atMs });
    t.equal(less?.upToMs, before.atMs, "whoever says so gets what is whole");
    writeFileSync(house.path(third.path), bytes);
    t.ok(((await house.restored())?.upToMs ?? 0) > before.atMs);
  },
);
