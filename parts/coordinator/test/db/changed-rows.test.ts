import { join } from "node:path";
import t from "tap";
import { ChangedRows } from "../../src/db/changed-rows.ts";
import { openDatabase } from "../../src/db/open-database.ts";

t.test(
  "rows that changed are named once, but not those of a transaction that is rolled back",
  async (t) => {
    using database = openDatabase(join(t.testdir(), "coordinator.db"));
    const { write: db } = database;
    const put = db.prepare(
      "INSERT INTO users (id, username, is_admin, created_at) VALUES (?, ?, 0, 1)",
    );
    put.run("u-before", "before");
    const changed = new ChangedRows(db, "test", {
      user: { table: "users", id: "id", ignored: ["is_admin"] },
      project: { table: "projects", id: "owner_id" },
    });
    const taken = () => Object.fromEntries(changed.take());
    t.same(taken(), {}, "what was there before is read by whoever begins");

    put.run("u-1", "one");
    db.exec("UPDATE users SET username = 'first' WHERE id = 'u-1'");
    db.exec(
      "INSERT INTO projects (id, owner_id, name, is_default, created_at) VALUES ('p', 'u-before', 'p', 1, 1)",
    );
    t.same(taken(), { user: ["u-1"], project: ["u-before"] });
    t.same(taken(), {});

    db.exec("UPDATE projects SET owner_id = 'u-1' WHERE id = 'p'");
    t.same(taken(), { project: ["u-1", "u-before"] }, "whose it was and whose it is");
    db.exec("UPDATE users SET is_admin = 1");
    t.same(taken(), {}, "a column that counts for nothing");
    db.exec("DELETE FROM projects");
    t.same(taken(), { project: ["u-1"] });

    const upsert =
      "INSERT INTO users (id, username, is_admin, created_at) VALUES ('u-1', 'x', 0, 1) ON CONFLICT (id) DO UPDATE SET created_at = 2";
    db.exec(upsert);
    db.exec(upsert);
    db.exec("UPDATE OR ABORT users SET username = 'y' WHERE id = 'u-1'");
    t.same(taken(), { user: ["u-1"] }, "whatever a statement says about conflicts");

    t.throws(
      db.transaction(() => {
        put.run("u-2", "two");
        throw new Error("no");
      }),
    );
    t.same(taken(), {});
  },
);
