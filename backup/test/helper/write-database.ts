/** A process that writes a database as fast as it can, and empties its log by what the coordinator has for that: `node write-database.ts FILE [PAUSE_MS]`. */
import { setTimeout as pause } from "node:timers/promises";
import { openDatabase } from "@resontech/frame/open-database";
import { GroupCommit } from "@resontech/coordinator/group-commit";
import { WriteAheadLog } from "@resontech/coordinator/write-ahead-log";

const [file = "", pauseMs = "0"] = process.argv.slice(2);
const db = openDatabase(file, [
  {
    ...{ version: 1, name: "entries" },
    sql: "CREATE TABLE entries (id INTEGER PRIMARY KEY, at INTEGER NOT NULL, text TEXT NOT NULL) STRICT;",
  },
]);
const insert = db.prepare("INSERT INTO entries (at, text) VALUES (?, ?)");
const forget = db.prepare("DELETE FROM entries WHERE id % 7 = 0 AND id < ?");
const commit = new GroupCommit(db);
const log = new WriteAheadLog(db, commit, (error) => process.stderr.write(`${String(error)}\n`));
process.stdout.write("ready\n");
let emptiedAt = performance.now();
let emptied = 0;
for (let count = 0; ; count += 1) {
  const text = `row ${count} `.repeat(1 + (count % 60));
  db.transaction(() => {
    insert.run(Date.now(), text);
    if (count % 50 === 0) forget.run(count - 500);
  })();
  commit.counts.commits += 1;
  if (performance.now() - emptiedAt > 300) {
    emptiedAt = performance.now();
    try {
      log.empty();
      process.stdout.write(`emptied ${(emptied += 1)}\n`);
    } catch {
      // Tried again.
    }
  }
  if (count % 64 === 0 || pauseMs !== "0") await pause(Number(pauseMs));
}
