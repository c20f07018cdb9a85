/** How far Keycloak's streams of events are read. Of the time that is read again each event is known by its id. */
import type { ReadHandle, WriteHandle } from "../../db/open-database.ts";

export type Stream = "sign-in" | "admin";

/** Unix milliseconds of Keycloak's clock; 0 before the first event. */
export function cursorOf(db: ReadHandle, stream: Stream): number {
  return (
    db
      .prepare<[string], number>("SELECT at FROM keycloak_cursors WHERE stream = ?")
      .pluck()
      .get(stream) ?? 0
  );
}

/** Notes an event, and tells whether it was not written before. */
export function noteEvent(db: WriteHandle, stream: Stream, id: string, at: number): boolean {
  return (
    db
      .prepare("INSERT OR IGNORE INTO keycloak_events_seen (id, stream, at) VALUES (?, ?, ?)")
      .run(id, stream, at).changes > 0
  );
}

/** @param keptFrom ids of events before it are forgotten: nothing so old is read again */
export function moveCursor(db: WriteHandle, stream: Stream, at: number, keptFrom: number): void {
  db.prepare(
    "INSERT INTO keycloak_cursors (stream, at) VALUES (?, ?) ON CONFLICT (stream) DO UPDATE SET at = max(at, excluded.at)",
  ).run(stream, at);
  db.prepare("DELETE FROM keycloak_events_seen WHERE stream = ? AND at < ?").run(stream, keptFrom);
}
