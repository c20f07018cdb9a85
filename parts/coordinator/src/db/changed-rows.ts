import type { WriteHandle } from "./open-database.ts";

/** Rows of one table, by the column that names what changed. @property ignored columns whose changes count for nothing */
export type WatchedTable = { table: string; id: string; ignored?: readonly string[] };

/**
 * Names of rows that changed since they were last taken, whoever changed them by this connection. Its triggers note them in the transaction of the change,
 * so one that is rolled back leaves nothing. Taken outside of transactions alone.
 */
export class ChangedRows<Watched extends string> {
  readonly #take;

  /** @param name of whoever takes them, once on a connection: each takes its own */
  constructor(db: WriteHandle, name: string, watched: Readonly<Record<Watched, WatchedTable>>) {
    const noted = `changed_for_${name}`;
    db.exec(
      `CREATE TEMP TABLE ${noted} (what TEXT NOT NULL, id TEXT NOT NULL, PRIMARY KEY (what, id)) WITHOUT ROWID`,
    );
    for (const [what, { table, id, ignored = [] }] of Object.entries<WatchedTable>(watched)) {
      const columns = db
        .prepare<[string], string>("SELECT name FROM pragma_table_info(?)")
        .pluck()
        .all(table)
        .filter((name) => !ignored.includes(name));
      // Not `OR IGNORE`: what the statement says that fires a trigger about conflicts counts in its body, too.
      const note = (row: "NEW" | "OLD") =>
        `INSERT INTO ${noted} SELECT '${what}', ${row}.${id} WHERE NOT EXISTS (SELECT 1 FROM ${noted} WHERE what = '${what}' AND id = ${row}.${id});`;
      db.exec(`
        CREATE TEMP TRIGGER ${noted}_${what}_inserted AFTER INSERT ON main.${table} BEGIN ${note("NEW")} END;
        CREATE TEMP TRIGGER ${noted}_${what}_updated AFTER UPDATE OF ${columns.join()} ON main.${table} BEGIN ${note("OLD")} ${note("NEW")} END;
        CREATE TEMP TRIGGER ${noted}_${what}_deleted AFTER DELETE ON main.${table} BEGIN ${note("OLD")} END;
      `);
    }
    const all = db.prepare<[], { what: Watched; id: string }>(`SELECT what, id FROM ${noted}`);
    const clear = db.prepare(`DELETE FROM ${noted}`);
    this.#take = db.transaction(() => {
      const rows = all.all();
      if (rows.length > 0) clear.run();
      return rows;
    });
  }

  /** Each once, and then no more. */
  take(): Map<Watched, string[]> {
    const taken = new Map<Watched, string[]>();
    for (const { what, id } of this.#take()) {
      const ids = taken.get(what);
      if (ids === undefined) taken.set(what, [id]);
      else ids.push(id);
    }
    return taken;
  }
}
