import type { WriteHandle } from "../db/open-database.ts";
import type { PlacementSignal } from "./placement-signal.ts";

/** Nodes are for one project alone, or, as in maintenance, for nobody (null). Instants are Unix milliseconds. @property pool whose nodes, as they are at any time; null: `nodes` */
export type CalendarEntry = {
  id: string;
  project: string | null;
  pool: string | null;
  nodes: string[];
  from: number;
  until: number;
  reason: string | null;
  /** Null: the root of the host. */
  madeBy: string | null;
};
type EntryRow = Omit<CalendarEntry, "nodes"> & { nodes: string };

/** When nodes are for somebody alone, or for nobody. */
export class CalendarTable {
  readonly #signal: Pick<PlacementSignal, "raise">;
  readonly #after;
  readonly #write;
  readonly #insertNode;
  readonly #remove;

  constructor(db: WriteHandle, signal: Pick<PlacementSignal, "raise">) {
    this.#signal = signal;
    this.#after = db.prepare<[number], EntryRow>(
      `SELECT id, project_id AS project, pool_id AS pool, from_at AS "from", until_at AS until, reason, made_by AS madeBy,
         (SELECT json_group_array(node_id) FROM (SELECT node_id FROM calendar_nodes WHERE entry_id = calendar.id ORDER BY node_id)) AS nodes
       FROM calendar WHERE until_at > ? ORDER BY from_at, id`,
    );
    this.#write = db.prepare<[object]>(
      `INSERT INTO calendar (id, project_id, pool_id, from_at, until_at, reason, made_by, created_at)
         VALUES (@id, @project, @pool, @from, @until, @reason, @madeBy, @now)
       ON CONFLICT (id) DO UPDATE SET from_at = excluded.from_at, until_at = excluded.until_at, reason = excluded.reason`,
    );
    this.#insertNode = db.prepare<[string, string]>(
      "INSERT OR IGNORE INTO calendar_nodes (entry_id, node_id) VALUES (?, ?)",
    );
    this.#remove = db.prepare<[string]>("DELETE FROM calendar WHERE id = ?");
  }

  /** What is not over at that moment, by their beginnings. */
  after(now: number): CalendarEntry[] {
    return this.#after
      .all(now)
      .map(({ nodes, ...entry }) => ({ ...entry, nodes: JSON.parse(nodes) as string[] }));
  }

  /** Inside a transaction. Of one that is there times and reason are changed alone. */
  write(entry: CalendarEntry, now: number): void {
    this.#write.run({ ...entry, nodes: null, now });
    for (const node of entry.nodes) this.#insertNode.run(entry.id, node);
    this.#signal.raise("calendar");
  }

  /** Inside a transaction. */
  remove(id: string): void {
    this.#remove.run(id);
    this.#signal.raise("calendar");
  }
}
