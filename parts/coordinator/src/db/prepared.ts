import type Database from "better-sqlite3";
import type { WriteHandle } from "./open-database.ts";

/** Statements whose text varies in a few forms (which columns a change sets, which rows a list shows), each compiled once. */
export class Prepared {
  readonly #db: Pick<WriteHandle, "prepare">;
  readonly #statements = new Map<string, Database.Statement>();

  constructor(db: Pick<WriteHandle, "prepare">) {
    this.#db = db;
  }

  run(sql: string, ...values: unknown[]): number {
    return this.#of(sql).run(...values).changes;
  }

  all<Row>(sql: string, ...values: unknown[]): Row[] {
    return this.#of(sql).all(...values) as Row[];
  }

  #of(sql: string): Database.Statement {
    let statement = this.#statements.get(sql);
    if (statement === undefined) {
      statement = this.#db.prepare(sql);
      this.#statements.set(sql, statement);
    }
    return statement;
  }
}
