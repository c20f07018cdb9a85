import type { WriteHandle } from "./open-database.ts";

/** Single values that outlive a restart. */
export type MetaName =
  | "generation"
  | "record-boot"
  | "record-pseq"
  | "record-ack"
  | "job-sequence"
  | "maintenance-until"
  | "leases-until"
  | "clock-anchor"
  | "written-at"
  /** The last decision about a job that makes way of which people were told. */
  | "ways-told"
  /** Host and port of the registry that references of images name. */
  | "registry-host"
  /** How often an operator has said that a node is well. */
  | `undrains:${string}`;

export class Meta {
  readonly #get;
  readonly #set;
  readonly #increment;

  constructor(db: WriteHandle) {
    this.#get = db.prepare<[MetaName], string>("SELECT value FROM meta WHERE name = ?").pluck();
    this.#set = db.prepare(
      "INSERT INTO meta (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
    );
    this.#increment = db
      .prepare<[MetaName], number>(
        `INSERT INTO meta (name, value) VALUES (?, '1')
         ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)
         RETURNING CAST(value AS INTEGER)`,
      )
      .pluck();
  }

  text(name: MetaName): string | null {
    return this.#get.get(name) ?? null;
  }

  /** 0 when it was never set. */
  number(name: MetaName): number {
    return Number(this.text(name) ?? 0);
  }

  set(name: MetaName, value: string | number): void {
    this.#set.run(name, String(value));
  }

  /** Counts up from 1 without gaps: a transaction that is rolled back takes its number back too. */
  next(name: MetaName): number {
    return this.#increment.get(name)!;
  }
}
