import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { openDatabase } from "../../src/db/open-database.ts";
import { WriteAheadLog } from "../../src/db/write-ahead-log.ts";

const SALT = "5a17".repeat(8);
const filesOf = (file: string): string[] => [file, `${file}-wal`];

t.test(
  "what was deleted is in no byte of the database or its log once that was emptied",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    using opened = openDatabase(file);
    const commit = new GroupCommit(opened.write);
    using log = new WriteAheadLog(opened.write, commit, (error) => t.fail(String(error)));
    const holding = () => filesOf(file).filter((one) => readFileSync(one).includes(SALT));
    await commit.run((db) =>
      db
        .prepare(
          "INSERT INTO audit_outbox (pseq, event, disclosures, created_at) VALUES (1, '{}', ?, 0)",
        )
        .run(`[{"salt":"${SALT}"}]`),
    );
    await commit.run((db) => db.prepare("DELETE FROM audit_outbox").run());
    t.same(holding(), [`${file}-wal`], "it is there still");
    log.empty();
    t.same(holding(), []);
    t.equal(statSync(`${file}-wal`).size, 0);
    await commit.run((db) => db.prepare("DELETE FROM audit_outbox").run());
    t.same(opened.read.prepare("SELECT pseq FROM audit_outbox").all(), [], "it goes on being read");
  },
);

t.test(
  "a reader in the middle of something is waited for, and the log is emptied the next time",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    using opened = openDatabase(file);
    const commit = new GroupCommit(opened.write);
    using log = new WriteAheadLog(opened.write, commit, (error) => t.fail(String(error)));
    await commit.run((db) =>
      db.prepare("INSERT INTO meta (name, value) VALUES ('a', '1'), ('b', '2')").run(),
    );
    const rows = opened.read.prepare("SELECT name FROM meta").iterate();
    rows.next();
    await commit.run((db) => db.prepare("DELETE FROM meta WHERE name = 'a'").run());
    const waits: unknown[] = [];
    const pragma = opened.write.pragma.bind(opened.write);
    t.intercept(opened.write, "pragma", {
      value: (text: string, options?: object) => {
        if (text.includes("wal_checkpoint")) waits.push(pragma("busy_timeout", { simple: true }));
        return pragma(text, options);
      },
    });
    t.throws(() => log.empty(), /could not be emptied/);
    t.ok(
      waits.length > 0 && waits.every((ms) => Number(ms) < 1_000),
      `it waits ${waits.join(", ")} ms`,
    );
    rows.return?.();
    log.empty();
    t.equal(statSync(`${file}-wal`).size, 0);
  },
);

t.test("a log that a reader made grow is emptied before the minute is over", async (t) => {
  const file = join(t.testdir(), "c.db");
  using opened = openDatabase(file);
  const commit = new GroupCommit(opened.write);
  using _log = new WriteAheadLog(opened.write, commit, (error) => t.fail(String(error)));
  const rows = opened.read.prepare("SELECT name FROM sqlite_schema").iterate();
  rows.next();
  for (let count = 0; count < 20; count += 1)
    await commit.run((db) =>
      db
        .prepare("INSERT INTO meta (name, value) VALUES (?, ?)")
        .run(`large-${count}`, "x".repeat(1024 ** 2)),
    );
  t.ok(statSync(`${file}-wal`).size > 16 * 1024 ** 2, "SQLite itself can't begin anew");
  rows.return?.();
  for (const endsAt = Date.now() + 120_000; statSync(`${file}-wal`).size > 0; await sleep(50))
    if (Date.now() > endsAt) throw new Error("it was not emptied");
});
