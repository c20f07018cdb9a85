/** The rows of a database, so that what one release wrote is found again after another release worked on the file. */
import Database from "better-sqlite3";

/** Rows by their primary key, for each table. */
export type Rows = ReadonlyMap<string, ReadonlyMap<string, Readonly<Record<string, unknown>>>>;

/** What tells of jobs: nothing of it goes while its job is kept. Work lists (`outbox`), and checkpoints of jobs that ended, are emptied. */
const KEPT_TABLES = [
  ...[
    "users",
    "projects",
    "nodes",
    "workers",
    "jobs",
    "job_inputs",
    "attempts",
    "members",
    "fences",
    "leases",
  ],
  ...["uploads", "rounds", "job_events", "audit_outbox"],
];

export function readRows(file: string): Rows {
  const db = new Database(file, { readonly: true });
  try {
    return new Map(KEPT_TABLES.map((table) => [table, rowsOf(db, table)]));
  } finally {
    db.close();
  }
}

/** What `integrity_check` and `foreign_key_check` find. */
export function faultsOf(file: string): string[] {
  const db = new Database(file, { readonly: true });
  try {
    const integrity = db.prepare("PRAGMA integrity_check").pluck().all() as string[];
    const orphans = db.prepare("PRAGMA foreign_key_check").all();
    return [
      ...integrity.filter((line) => line !== "ok"),
      ...orphans.map((orphan) => JSON.stringify(orphan)),
    ];
  } finally {
    db.close();
  }
}

/** Rows that are gone, and columns that the program in between does not know and has changed nevertheless. */
export function lostBetween(
  before: Rows,
  after: Rows,
  unknownColumns: ReadonlyMap<string, readonly string[]>,
): string[] {
  return [...before].flatMap(([table, rows]) =>
    [...rows].flatMap(([key, row]) => {
      const now = after.get(table)?.get(key);
      if (now === undefined) return [`${table} ${key} is gone`];
      return (unknownColumns.get(table) ?? [])
        .filter((column) => now[column] !== row[column])
        .map(
          (column) =>
            `${table} ${key}: ${column} was ${String(row[column])} and is ${String(now[column])}`,
        );
    }),
  );
}

/** Columns of the kept tables, by table. */
export function columnsOf(file: string): Map<string, string[]> {
  const db = new Database(file, { readonly: true });
  try {
    return new Map(KEPT_TABLES.map((table) => [table, namesOf(db, table).map(({ name }) => name)]));
  } finally {
    db.close();
  }
}

function rowsOf(db: Database.Database, table: string): Map<string, Record<string, unknown>> {
  const keys = namesOf(db, table)
    .filter(({ pk }) => pk > 0)
    .map(({ name }) => name);
  const rows = db.prepare<[], Record<string, unknown>>(`SELECT * FROM ${table}`).all();
  return new Map(rows.map((row) => [keys.map((key) => String(row[key])).join(" "), row]));
}

function namesOf(db: Database.Database, table: string): { name: string; pk: number }[] {
  return db
    .prepare<[string], { name: string; pk: number }>("SELECT name, pk FROM pragma_table_info(?)")
    .all(table);
}
