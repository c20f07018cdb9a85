/** A database that is newer than Keycloak and the object store that come back with it, in the coordinator's own schema. */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@resontech/frame/open-database";
import Database from "better-sqlite3";
import t from "tap";
import { MIGRATIONS } from "@resontech/coordinator/migrations";
import { reconcileNewer } from "../../src/parts/reconcile-newer.ts";

t.test("people, buckets and key pairs of after the backup are made again", async (t) => {
  const [newer, ofBackup] = [join(t.testdir(), "newer.db"), join(t.testdirName, "backup.db")];
  const db = openDatabase(newer, MIGRATIONS);
  const add = (name: string): void => {
    db.exec(`
      INSERT INTO users (id, username, is_admin, created_at, subject) VALUES ('u_${name}', '${name}', 0, 0, 's_${name}');
      INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p_${name}', 'u_${name}', 'default', 1, 0);
      INSERT INTO buckets (name, project_id, log_id, quota_bytes, made_at, rights, created_at)
        VALUES ('b-${name}', 'p_${name}', 'u_${name}', 1, 7, 'r', 0);
      INSERT INTO bucket_pairs (bucket, user_id, access_key_id, created_at) VALUES ('b-${name}', 'u_${name}', 'k1-${name}', 0);`);
  };
  for (const name of ["ann", "bob", "cy"]) add(name);
  db.pragma("wal_checkpoint(TRUNCATE)");
  copyFileSync(newer, ofBackup);
  add("dee");
  db.exec(`
    UPDATE bucket_pairs SET access_key_id = 'k2-bob' WHERE user_id = 'u_bob';
    DELETE FROM bucket_pairs WHERE user_id = 'u_cy';`);
  db.close();
  reconcileNewer(newer, ofBackup);
  const after = new Database(newer, { readonly: true });
  t.teardown(() => after.close());
  t.same(after.prepare("SELECT username, subject FROM users ORDER BY id").raw().all(), [
    ["ann", "s_ann"],
    ["bob", "s_bob"],
    ["cy", "s_cy"],
    ["dee", null],
  ]);
  t.same(after.prepare("SELECT name, made_at FROM buckets ORDER BY name").raw().all(), [
    ["b-ann", 7],
    ["b-bob", 7],
    ["b-cy", 7],
    ["b-dee", null],
  ]);
  const pairs = after
    .prepare(
      "SELECT user_id, access_key_id, pending_access_key_id, retired_access_key_id FROM bucket_pairs ORDER BY user_id",
    )
    .raw();
  t.same(
    pairs.all(),
    [
      ["u_ann", "k1-ann", null, null],
      ["u_bob", null, null, "k1-bob"],
      ["u_cy", null, null, "k1-cy"],
      ["u_dee", null, null, "k1-dee"],
    ],
    "a pair that was replaced since is taken from the store",
  );
  t.equal(after.pragma("integrity_check", { simple: true }), "ok");
  t.same(after.pragma("foreign_key_check"), []);
});

/** A row of which the test says as much as it is about. */
function insert(db: Database.Database, table: string, values: Record<string, unknown>): void {
  type Column = { name: string; type: string; notnull: number; dflt_value: unknown };
  const rest = (db.pragma(`table_info(${table})`) as Column[]).filter(
    ({ name, notnull, dflt_value }) => notnull === 1 && dflt_value === null && !(name in values),
  );
  const row: Record<string, unknown> = {
    ...Object.fromEntries(rest.map(({ name, type }) => [name, type === "INTEGER" ? 0 : "x"])),
    ...values,
  };
  const names = Object.keys(row);
  db.prepare(
    `INSERT INTO ${table} (${names.join(", ")}) VALUES (${names.map((name) => `@${name}`).join(", ")})`,
  ).run(row);
}

t.test("a job goes on from the newest model that came back", async (t) => {
  const [newer, ofBackup] = [join(t.testdir(), "newer.db"), join(t.testdirName, "backup.db")];
  const db = openDatabase(newer, MIGRATIONS);
  db.pragma("foreign_keys = OFF");
  insert(db, "jobs", { id: "j", state: "RUNNING", desired: "run" });
  insert(db, "attempts", { id: "a", job_id: "j" });
  const commit = (round: number): void => {
    for (const what of ["model", "manifest"])
      insert(db, "uploads", { id: `${what}-${round}`, job_id: "j", state: "COMPLETED" });
    insert(db, "checkpoints", {
      ...{ job_id: "j", attempt_id: "a", round, committed_at: round },
      ...{ model_upload: `model-${round}`, manifest_upload: `manifest-${round}` },
    });
  };
  for (const round of [3, 4]) commit(round);
  db.pragma("wal_checkpoint(TRUNCATE)");
  copyFileSync(newer, ofBackup);
  for (const round of [5, 6]) commit(round);
  for (const round of [3, 4]) {
    db.prepare("DELETE FROM checkpoints WHERE round = ?").run(round);
    insert(db, "outbox", { kind: "remove-version", upload_id: `model-${round}` });
  }
  db.close();
  reconcileNewer(newer, ofBackup);
  const after = new Database(newer, { readonly: true });
  t.teardown(() => after.close());
  const rounds = after.prepare("SELECT round FROM checkpoints ORDER BY round").pluck();
  t.same(rounds.all(), [3, 4], "of 5 and 6 no object came back");
  const removals = after.prepare("SELECT count(*) FROM outbox WHERE kind = 'remove-version'");
  t.equal(removals.pluck().get(), 0, "and what it goes on from is not removed");
});
