/** A process that writes a database as fast as it can, and empties its log as the coordinator does: `node write-database.ts FILE [PAUSE_MS]`. */
import { setTimeout as pause } from "node:timers/promises";
import { openDatabase } from "@resontech/daemon/open-database";

const [file = "", pauseMs = "0"] = process.argv.slice(2);
const db = openDatabase(file, [
  {
    ...{ version: 1, name: "entries" },
    sql: "CREATE TABLE entries (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT;",
  },
]);
const insert = db.prepare("INSERT INTO entries (at, text) VALUES (?, ?)");
const forget = db.prepare("DELETE FROM entries WHERE id % 7 = 0 AND id < ?");
process.stdout.write("ready\n");
let emptiedAt = performance.now();
let emptied = 0;
for (let count = 0; ; count += 1) {
  const text = `row ${count} `.repeat(1 + (count % 60));
  db.transaction(() => {
    insert.run(Date.now(), text);
    if (count % 50 === 0) forget.run(count - 500);
  })();
  if (performance.now() - emptiedAt > 300) {
    emptiedAt = performance.now();
    db.pragma("busy_timeout = 250");
    const [{ busy }] = db.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
    if (busy === 0) process.stdout.write(`emptied ${(emptied += 1)}\n`);
  }
  if (count % 64 === 0 || pauseMs !== "0") await pause(Number(pauseMs));
}
