import Database from "better-sqlite3";

/** A write changed nothing: the disk of the database is full, or it fails. */
export class DatabaseUnavailable extends Error {
  override readonly name = "DatabaseUnavailable";
  readonly state: "full" | "failing";

  constructor(state: "full" | "failing", options?: ErrorOptions) {
    super(
      state === "full" ? "the disk of the database is full" : "the disk of the database fails",
      options,
    );
    this.state = state;
  }
}

/** What SQLite says of its disk, as ours; every other error as it is. */
export function asDiskFailure(error: unknown): unknown {
  if (!(error instanceof Database.SqliteError)) return error;
  if (error.code.startsWith("SQLITE_FULL"))
    return new DatabaseUnavailable("full", { cause: error });
  return error.code.startsWith("SQLITE_IOERR")
    ? new DatabaseUnavailable("failing", { cause: error })
    : error;
}
