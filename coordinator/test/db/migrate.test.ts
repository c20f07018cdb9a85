import { existsSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import t from "tap";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openDatabase } from "../../src/db/open-database.ts";

const STEPS = [
  { version: 1, name: "one", sql: "CREATE TABLE a (id INTEGER PRIMARY KEY, word TEXT NOT NULL) STRICT" },
  { version: 2, name: "two", sql: "ALTER TABLE a ADD COLUMN more TEXT" },
] as const;

t.test("the product's migrations are numbered without gaps and make a sound, strict schema", async (t) => {
  t.same(
    MIGRATIONS.map(({ version }) => version),
    MIGRATIONS.map((_, at) => at + 1),
  );
  const file = join(t.testdir(), "c.db");
  using opened = openDatabase(file);
  t.equal(opened.write.pragma("user_version", { simple: true }), MIGRATIONS.length);
  t.equal(opened.write.pragma("synchronous", { simple: true }), 2, "FULL");
  t.equal(opened.write.pragma("journal_mode", { simple: true }), "wal");
  t.equal(opened.write.pragma("foreign_keys", { simple: true }), 1);
  t.same(opened.write.pragma("foreign_key_check"), []);
  const loose = opened.write
    .prepare(
      "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND strict = 0 AND name NOT LIKE 'sqlite_%'",
    )
    .all();
  t.same(loose, []);
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.throws(() => opened.read.prepare("DELETE FROM jobs").run(), /readonly/);
});

t.test("pending steps run in one transaction, over rows that are there, with a copy of the file before", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, STEPS.slice(0, 1));
  t.notOk(existsSync(`${file}.before-1`), "an empty file needs no copy");
  db.prepare("INSERT INTO a (word) VALUES ('kept')").run();
  migrate(db, STEPS);
  t.same(db.prepare("SELECT * FROM a").all(), [{ id: 1, word: "kept", more: null }]);
  const copy = new Database(`${file}.before-2`, { readonly: true });
  t.teardown(() => copy.close());
  t.equal(copy.pragma("user_version", { simple: true }), 1);
  t.same(copy.prepare("SELECT * FROM a").all(), [{ id: 1, word: "kept" }]);
});

t.test("a copy from before a migration goes after thirty days", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, STEPS.slice(0, 1));
  migrate(db, STEPS);
  const copy = `${file}.before-2`;
  const setAge = (days: number): void => utimesSync(copy, new Date(), new Date(Date.now() - days * 86_400_000));
  setAge(29);
  migrate(db, STEPS);
  t.ok(existsSync(copy));
  setAge(31);
  migrate(db, STEPS);
  t.notOk(existsSync(copy));
  t.ok(existsSync(file));
});

t.test("a step that fails leaves the file as it was", async (t) => {
  const db = new Database(join(t.testdir(), "c.db"));
  t.teardown(() => db.close());
  t.throws(() => migrate(db, [...STEPS, { version: 3, name: "bad", sql: "CREATE TABLE a (x TEXT)" }]), /already exists/);
  t.equal(db.pragma("user_version", { simple: true }), 0);
  t.same(db.prepare("SELECT name FROM sqlite_master").all(), []);
  migrate(db, STEPS);
  t.equal(db.pragma("user_version", { simple: true }), 2);
});

t.test("buckets of an older program have no rights noted, so they are given them", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, MIGRATIONS.slice(0, 7));
  db.exec(`
    INSERT INTO users (id, username, is_admin, created_at) VALUES ('u_1', 'alice', 0, 1);
    INSERT INTO buckets (name, owner_id, quota_bytes, created_at, access_key_id) VALUES ('alice-1', 'u_1', 1, 1, 'RT1');
  `);
  migrate(db, MIGRATIONS);
  t.match(db.prepare("SELECT name, access_key_id, rights FROM buckets").all(), [
    { name: "alice-1", access_key_id: "RT1", rights: null },
  ]);
});

t.test("a database of a newer program is refused by type", async (t) => {
  const db = new Database(join(t.testdir(), "c.db"));
  t.teardown(() => db.close());
  migrate(db, STEPS);
  t.throws(() => migrate(db, STEPS.slice(0, 1)), { code: "database_too_new", found: 2, known: 1 });
});
