/** One audit-out for one state folder: two would write the same cursors and index, and answer on the same socket. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { ConfigError } from "./config.ts";

/**
 * Held until it is disposed of, or the process ends, however it ends: the lock is the kernel's, on a database that stays empty. Whether somebody answers on a socket
 * could not tell: two that start at once on what a killed life left would both find nobody.
 */
export class SoleInstance implements Disposable {
  readonly #db: Database.Database;

  /** @throws ConfigError when another process has it */
  constructor(stateDir: string) {
    this.#db = new Database(join(stateDir, "running.lock"), { timeout: 0 });
    try {
      this.#db.exec("BEGIN EXCLUSIVE");
    } catch (cause) {
      this.#db.close();
      if (!(cause instanceof Database.SqliteError && cause.code === "SQLITE_BUSY")) throw cause;
      throw new ConfigError(`another audit-out runs on ${stateDir}`);
    }
  }

  [Symbol.dispose](): void {
    this.#db.close();
  }
}
