import { existsSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import t from "tap";
import { migrate } from "../../src/db/migrate.ts";
import { MIGRATIONS } from "../../src/db/migrations.ts";
import { openDatabase } from "../../src/db/open-database.ts";

/** As the release before left it: a client was replaced, and a round committed. */
const LIVING_JOB = `
  INSERT INTO users (id, username, is_admin, created_at) VALUES ('u', 'u', 0, 1);
  INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p', 'u', 'p', 1, 1);
  INSERT INTO nodes (id, state, version, certificate_sha256, joined_at, state_since) VALUES ('node-1', 'READY', 1, 'x', 1, 1);
  INSERT INTO workers (id, node_id, kind, model, memory_bytes, is_healthy, is_present) VALUES ('node-1-0', 'node-1', 'cpu', 'cpu', 1, 1, 1);
  INSERT INTO jobs (id, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection, only_mine,
      image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at)
    VALUES ('job-1', 1, 'p', 'u', 'n', 'n', 'b', 'jobs/n', 'RUNNING', 3, 'run', 1, '{}', 0, '{}', 1, 1, '[]', 1, '[1]', 'op', 1, 'leaf', 1);
  INSERT INTO job_inputs VALUES ('job-1', 'i0', 'shard', 'k', 'v', 'e', 1, 'shard.zip', 0);
  INSERT INTO attempts (id, job_id, number, server_name, server_port, created_at) VALUES ('job-1-a1', 'job-1', 1, 's', 8002, 1);
  ${memberRow("job-1-a1-server", "server", null, null)}
  ${memberRow("job-1-a1-site-1", "client", "site-1", null)}
  ${memberRow("job-1-a1-site-1-2", "client", "site-1", "job-1-a1-site-1")}
  INSERT INTO fences VALUES ('job-1-a1-server', 1, 1, 'node-1', 1, NULL);
  INSERT INTO leases (worker_id, member_id, job_id, generation, counter, acquired_at) VALUES ('node-1-0', 'job-1-a1-site-1-2', 'job-1', 1, 1, 1);
  INSERT INTO uploads (id, job_id, member_id, generation, counter, bucket, key, is_log, size_bytes, sha256, part_size_bytes, part_count, state, opened_at)
    VALUES ('up-1', 'job-1', 'job-1-a1-server', 1, 1, 'b', 'k', 0, 1, 'x', 1, 1, 'COMPLETED', 1);
  INSERT INTO checkpoints VALUES ('job-1', 'job-1-a1', 0, 'up-1', 'up-1', 1);
  INSERT INTO rounds (attempt_id, job_id, round) VALUES ('job-1-a1', 'job-1', 0);
  INSERT INTO job_events (job_id, to_state, event, at) VALUES ('job-1', 'RUNNING', 'start', 1);
`;

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

t.test("a database of a newer program is opened where that program said so, else refused by type", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, STEPS);
  t.throws(() => migrate(db, STEPS.slice(0, 1)), { code: "database_too_new", found: 2, known: 1 });
  migrate(db, [...STEPS, { version: 3, name: "three", sql: "ALTER TABLE a ADD COLUMN third TEXT", minReader: 2 }]);
  migrate(db, STEPS);
  t.equal(db.pragma("user_version", { simple: true }), 3, "the older program changes nothing");
  t.notOk(existsSync(`${file}.before-2`) && existsSync(`${file}.before-1`));
  t.throws(() => migrate(db, STEPS.slice(0, 1)), { code: "database_too_new", found: 3, known: 1 });
});

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
  const lossy = "CREATE TABLE b (id INTEGER PRIMARY KEY) STRICT; DROP TABLE a; ALTER TABLE b RENAME TO a;";
  t.throws(
    () => migrate(db, [...STEPS, { version: 3, name: "anew", sql: anew }, { version: 4, name: "lossy", sql: lossy }]),
    /without their parents/,
  );
  t.equal(db.pragma("user_version", { simple: true }), 3);
  t.equal(db.pragma("foreign_keys", { simple: true }), 1);
});

t.test("a living job of the release before keeps every row, and its server leads", async (t) => {
  const file = join(t.testdir(), "c.db");
  const before = new Database(file);
  migrate(before, MIGRATIONS.slice(0, 8));
  before.exec(LIVING_JOB);
  const tables = [
    "jobs",
    "attempts",
    "members",
    "job_inputs",
    "leases",
    "fences",
    "uploads",
    "checkpoints",
    "rounds",
    "job_events",
  ];
  const rowsOf = (db: Database.Database) =>
    tables.map((table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all() as Record<string, unknown>[]);
  const old = rowsOf(before);
  before.close();
  using opened = openDatabase(file);
  const found = rowsOf(opened.write);
  for (const [at, table] of tables.entries()) t.match(found[at], old[at]!, table);
  t.ok(
    old.every(({ length }) => length > 0),
    "each has a row",
  );
  t.same(opened.write.prepare("SELECT id, is_lead, replaces FROM members ORDER BY id").all(), [
    { id: "job-1-a1-server", is_lead: 1, replaces: null },
    { id: "job-1-a1-site-1", is_lead: 0, replaces: null },
    { id: "job-1-a1-site-1-2", is_lead: 0, replaces: "job-1-a1-site-1" },
  ]);
  t.same(opened.write.prepare("SELECT kind, spec FROM jobs").all(), [{ kind: "federation", spec: null }]);
  // As the release before writes it: it knows no lead.
  opened.write.exec(memberRow("job-1-a2-server", "server", null, null));
  t.equal(opened.write.prepare("SELECT is_lead FROM members WHERE id = 'job-1-a2-server'").pluck().get(), 1);
});

function memberRow(id: string, role: string, site: string | null, replaces: string | null): string {
  const text = (value: string | null) => (value === null ? "NULL" : `'${value}'`);
  return `INSERT INTO members (id, attempt_id, job_id, role, site, shard_index, node_id, state, version, desired, generation, counter, resources,
      state_since, created_at, replaces)
    VALUES ('${id}', 'job-1-a1', 'job-1', '${role}', ${text(site)}, ${site === null ? "NULL" : 0}, 'node-1', 'RUNNING', 1, 'run', 1, 1, '{}', 1, 1,
      ${text(replaces)});`;
}
