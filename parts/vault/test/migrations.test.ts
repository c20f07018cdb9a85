import { join } from "node:path";
import t from "tap";
import { openDatabase } from "@resontech/frame/open-database";
import { SEALED_MIGRATIONS } from "../src/db/sealed-migrations.ts";

t.test(
  "acts of before keep their rows and what refers to them, and those that destroyed have a time",
  async (t) => {
    const file = join(t.testdir(), "sealed.sqlite");
    const old = openDatabase(file, SEALED_MIGRATIONS.slice(0, 2));
    old.exec(`
    INSERT INTO acts (op, kind, subject, state, request, began_at) VALUES
      ('op-1', 'erasure', 'usr-1', 'done', '{}', 100), ('op-2', 'erasure', 'usr-2', 'requested', '{}', 200), ('op-3', 'hold', 'usr-3', 'done', '{}', 300);
    INSERT INTO erased (origin, idx, field, commitment, op) VALUES ('o', 1, 'f', x'00', 'op-1');
    INSERT INTO destroyed (op) VALUES ('op-1');
    INSERT INTO holds (hold, subject, set_by) VALUES ('case-3', 'usr-3', 'op-3');
  `);
    old.close();
    const db = openDatabase(file, SEALED_MIGRATIONS);
    t.teardown(() => db.close());
    t.same(db.prepare("SELECT op, state, destroyed_at FROM acts ORDER BY op").raw().all(), [
      ["op-1", "done", 100],
      ["op-2", "requested", null],
      ["op-3", "done", null],
    ]);
    t.same(db.pragma("foreign_key_check"), []);
    t.equal(db.pragma("foreign_keys", { simple: true }), 1);
    db.exec(
      "UPDATE acts SET state = 'destroying' WHERE op = 'op-2'; INSERT INTO doomed VALUES ('op-2', 'usr-2', '2026-01')",
    );
    t.throws(() => db.exec("DELETE FROM acts WHERE op = 'op-1'"), /FOREIGN KEY/);
  },
);

t.test(
  "a file that a newer release says this one may read is opened, and any other refused",
  async (t) => {
    const file = join(t.testdir(), "sealed.sqlite");
    const next = SEALED_MIGRATIONS.length + 1;
    const added = {
      version: next,
      name: "added",
      sql: "ALTER TABLE holds ADD COLUMN note TEXT",
      minReader: SEALED_MIGRATIONS.length,
    };
    openDatabase(file, [...SEALED_MIGRATIONS, added]).close();
    const older = openDatabase(file, SEALED_MIGRATIONS);
    t.equal(older.pragma("user_version", { simple: true }), next, "and stays what it is");
    older.close();
    const gone = { version: next + 1, name: "gone", sql: "DROP TABLE holds", minReader: next + 1 };
    openDatabase(file, [...SEALED_MIGRATIONS, added, gone]).close();
    t.throws(() => openDatabase(file, SEALED_MIGRATIONS), { code: "database_too_new" });
  },
);
