import { statSync } from "node:fs";
import { join } from "node:path";
import { migrate } from "@resontech/frame/migrate";
import Database from "better-sqlite3";
import t from "tap";
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

t.test(
  "the product's migrations are numbered without gaps and make a sound, strict schema",
  async (t) => {
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
  },
);

t.test("buckets of an older program have no rights noted, so they are given them", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, MIGRATIONS.slice(0, 7));
  db.exec(`
    INSERT INTO users (id, username, is_admin, created_at) VALUES ('u_1', 'alice', 0, 1);
    INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_1', 'u_1', 'default', 1, 1);
    INSERT INTO buckets (name, owner_id, quota_bytes, created_at, access_key_id) VALUES ('alice-1', 'u_1', 1, 1, 'RT1');
  `);
  migrate(db, MIGRATIONS);
  t.match(db.prepare("SELECT name, rights FROM buckets").all(), [
    { name: "alice-1", rights: null },
  ]);
  t.match(db.prepare("SELECT bucket, user_id, access_key_id FROM bucket_pairs").all(), [
    { bucket: "alice-1", user_id: "u_1", access_key_id: "RT1" },
  ]);
});

t.test(
  "pools of an older program limit nobody and keep nothing, and it writes them on the newer file",
  async (t) => {
    const file = join(t.testdir(), "c.db");
    const db = new Database(file);
    t.teardown(() => db.close());
    migrate(
      db,
      MIGRATIONS.filter(({ version }) => version < 43),
    );
    const insert = (id: string) =>
      db
        .prepare(
          "INSERT INTO pools (id, name, kind, lends, created_at, changed_at) VALUES (?, ?, 'shared', 0, 1, 1)",
        )
        .run(id, id);
    insert("before");
    migrate(db, MIGRATIONS);
    insert("after");
    const rules = "SELECT id, project_workers, worker_models, cache_bytes FROM pools ORDER BY id";
    t.same(db.prepare(rules).all(), [
      { id: "after", project_workers: null, worker_models: null, cache_bytes: null },
      { id: "before", project_workers: null, worker_models: null, cache_bytes: null },
    ]);
    t.throws(() => db.exec("UPDATE pools SET project_workers = 0"), /CHECK/);
    t.throws(() => db.exec("UPDATE pools SET cache_bytes = 0"), /CHECK/);
  },
);

t.test("a node that is silent when outages begin to be kept is silent since then", async (t) => {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  t.teardown(() => db.close());
  migrate(db, MIGRATIONS.slice(0, 41));
  db.exec(`INSERT INTO nodes (id, state, version, certificate_sha256, joined_at, state_since) VALUES
    ('node-1', 'DEAD', 1, 'x', 1, 700), ('node-2', 'READY', 1, 'y', 1, 800)`);
  migrate(db, MIGRATIONS);
  const outages = () => db.prepare("SELECT * FROM node_outages ORDER BY since").all();
  t.same(outages(), [{ node_id: "node-1", since: 700, until: null }]);
  // As the release before writes it, after a rollback.
  db.exec("UPDATE nodes SET state = 'READY', state_since = 900 WHERE id = 'node-1'");
  db.exec("UPDATE nodes SET state = 'SUSPECT', state_since = 950 WHERE id = 'node-2'");
  db.exec("UPDATE nodes SET state = 'DEAD', state_since = 990 WHERE id = 'node-2'");
  t.same(outages(), [
    { node_id: "node-1", since: 700, until: 900 },
    { node_id: "node-2", since: 950, until: null },
  ]);
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
    tables.map(
      (table) => db.prepare(`SELECT * FROM ${table} ORDER BY 1`).all() as Record<string, unknown>[],
    );
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
  t.same(opened.write.prepare("SELECT kind, spec FROM jobs").all(), [
    { kind: "federation", spec: null },
  ]);
  // As the release before writes it: it knows no lead.
  opened.write.exec(memberRow("job-1-a2-server", "server", null, null));
  t.equal(
    opened.write.prepare("SELECT is_lead FROM members WHERE id = 'job-1-a2-server'").pluck().get(),
    1,
  );
});

function memberRow(id: string, role: string, site: string | null, replaces: string | null): string {
  const text = (value: string | null) => (value === null ? "NULL" : `'${value}'`);
  return `INSERT INTO members (id, attempt_id, job_id, role, site, shard_index, node_id, state, version, desired, generation, counter, resources,
      state_since, created_at, replaces)
    VALUES ('${id}', 'job-1-a1', 'job-1', '${role}', ${text(site)}, ${site === null ? "NULL" : 0}, 'node-1', 'RUNNING', 1, 'run', 1, 1, '{}', 1, 1,
      ${text(replaces)});`;
}

t.test(
  "who was administrator by the column alone holds the role, but nobody from whom two people took it",
  async (t) => {
    const db = new Database(join(t.testdir(), "c.db"));
    t.teardown(() => db.close());
    migrate(db, MIGRATIONS.slice(0, 29));
    db.exec(`
    INSERT INTO users (id, username, is_admin, created_at, signed_in_at) VALUES
      ('u_new', 'new', 1, 1, NULL), ('u_taken', 'taken', 1, 1, NULL), ('u_seen', 'seen', 1, 1, 5), ('u_made', 'made', 0, 1, 5);
    INSERT INTO role_holders (user_id, role) VALUES ('u_made', 'platform-admin');
    INSERT INTO approvals (id, kind, what, requester_id, state, decider_id, single_person, created_at, expires_at, decided_at) VALUES
      ('a_1', 'role', '{"kind":"role","userId":"u_taken","role":"platform-admin","change":"revoke"}', 'u_made', 'approved', 'u_seen', 0, 1, 2, 2);
  `);
    migrate(db, MIGRATIONS);
    t.same(db.prepare("SELECT user_id FROM role_holders ORDER BY user_id").pluck().all(), [
      "u_made",
      "u_new",
    ]);
    t.same(db.prepare("SELECT id FROM users WHERE is_admin = 1 ORDER BY id").pluck().all(), [
      "u_made",
      "u_new",
    ]);
  },
);
