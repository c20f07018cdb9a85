import { existsSync, readdirSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import t from "tap";
import { migrate } from "../src/migrate.ts";
import { openDatabase } from "../src/open-database.ts";

const COPIED = { copyLifeMs: 30 * 86_400_000 };

const STEPS = [
  {
    version: 1,
    name: "one",
    sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT",
  },
  { version: 2, name: "two", sql: "ALTER TABLE a ADD COLUMN more TEXT" },
] as const;

t.test(
  "pending steps run in one transaction, over rows that are there, with a copy of the file before",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    const db = new Database(file);
    t.teardown(() => db.close());
    migrate(db, STEPS.slice(0, 1), COPIED);
    t.notOk(existsSync(`${file}.before-1`), "an empty file needs no copy");
    db.prepare("INSERT INTO a (word) VALUES ('kept')").run();
    migrate(db, STEPS, COPIED);
    t.same(db.prepare("SELECT * FROM a").all(), [{ id: 1, word: "kept", more: null }]);
    const copy = new Database(`${file}.before-2`, { readonly: true });
    t.teardown(() => copy.close());
    t.equal(copy.pragma("user_version", { simple: true }), 1);
    t.same(copy.prepare("SELECT * FROM a").all(), [{ id: 1, word: "kept" }]);
  },
);

t.test("a copy from before a migration goes after thirty days", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, STEPS.slice(0, 1), COPIED);
  migrate(db, STEPS, COPIED);
  const copy = `${file}.before-2`;
  const setAge = (days: number): void =>
    utimesSync(copy, new Date(), new Date(Date.now() - days * 86_400_000));
  setAge(29);
  migrate(db, STEPS, COPIED);
  t.ok(existsSync(copy));
  setAge(31);
  migrate(db, STEPS, COPIED);
  t.notOk(existsSync(copy));
  t.ok(existsSync(file));
});

t.test("who keeps no copies makes none, and removes none", async (t) => {
  const folder = t.testdir({ "c.db.before-1": "somebody's" });
  const file = join(folder, "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, STEPS.slice(0, 1));
  migrate(db, STEPS);
  t.same(readdirSync(folder).sort(), ["c.db", "c.db.before-1"]);
});

t.test("a step that fails leaves the file as it was", async (t) => {
  const db = new Database(join(t.testdir(), "c.db"));
  t.teardown(() => db.close());
  t.throws(
    () => migrate(db, [...STEPS, { version: 3, name: "bad", sql: "CREATE TABLE a (x TEXT)" }]),
    /already exists/,
  );
  t.equal(db.pragma("user_version", { simple: true }), 0);
  t.same(db.prepare("SELECT name FROM sqlite_master").all(), []);
  migrate(db, STEPS);
  t.equal(db.pragma("user_version", { simple: true }), 2);
});

t.test(
  "a database of a newer program is opened where that program said so, else refused by type",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    const db = new Database(file);
    t.teardown(() => db.close());
    migrate(db, STEPS);
    t.throws(() => migrate(db, STEPS.slice(0, 1)), {
      code: "database_too_new",
      found: 2,
      known: 1,
    });
    migrate(db, [
      ...STEPS,
      { version: 3, name: "three", sql: "ALTER TABLE a ADD COLUMN third TEXT", minReader: 2 },
    ]);
    migrate(db, STEPS);
    t.equal(db.pragma("user_version", { simple: true }), 3, "the older program changes nothing");
    t.throws(() => migrate(db, STEPS.slice(0, 1)), {
      code: "database_too_new",
      found: 3,
      known: 1,
    });
  },
);

t.test("a table that is made anew keeps the rows that belong to its own", async (t) => {
  const db = new Database(join(t.testdir(), "c.db"));
  t.teardown(() => db.close());
  db.pragma("foreign_keys = ON");
  migrate(db, STEPS);
  db.exec(
    "CREATE TABLE child (a INTEGER REFERENCES a (id) ON DELETE CASCADE) STRICT; INSERT INTO a (word) VALUES ('w'); INSERT INTO child VALUES (1)",
  );
  const anew =
    "CREATE TABLE b (id INTEGER PRIMARY KEY) STRICT; INSERT INTO b SELECT id FROM a; DROP TABLE a; ALTER TABLE b RENAME TO a;";
  migrate(db, [...STEPS, { version: 3, name: "anew", sql: anew }]);
  t.same(db.prepare("SELECT * FROM child").all(), [{ a: 1 }]);
  t.equal(db.pragma("foreign_keys", { simple: true }), 1);
  const lossy =
    "CREATE TABLE b (id INTEGER PRIMARY KEY) STRICT; DROP TABLE a; ALTER TABLE b RENAME TO a;";
  t.throws(
    () =>
      migrate(db, [
        ...STEPS,
        { version: 3, name: "anew", sql: anew },
        { version: 4, name: "lossy", sql: lossy },
      ]),
    /without their parents/,
  );
  t.equal(db.pragma("user_version", { simple: true }), 3);
  t.equal(db.pragma("foreign_keys", { simple: true }), 1);
});

t.test(
  "what is opened is its owner's alone, durable, overwrites what it deletes, and minds its references",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    for (const spillsNothing of [false, true]) {
      const db = openDatabase(file, STEPS, { spillsNothing });
      const told = (pragma: string) => db.pragma(pragma, { simple: true });
      t.same(
        ["journal_mode", "synchronous", "foreign_keys", "secure_delete", "temp_store"].map(told),
        ["wal", 2, 1, 1, spillsNothing ? 2 : 0],
      );
      t.equal(told("user_version"), 2);
      t.equal(statSync(file).mode & 0o777, 0o600);
      db.close();
    }
  },
);
