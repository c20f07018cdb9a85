/**
 * Makes a database anew on a thread of its own, by a connection of its own: some six seconds for each GB, in which its process goes on reading. A write
 * waits for its end. Whoever is killed meanwhile finds the database as it was, and begins anew.
 */
import { statSync } from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import Database from "better-sqlite3";
import { scrub } from "./scrub.ts";
import { type DatabaseSize, NoRoomToScrub, roomToScrub } from "./scrub-room.ts";

/** Readers of the process take no time; that they must end before the log is emptied is all that is waited for. */
const READERS_TIMEOUT_MS = 60_000;
/** Compiled, it stands beside vault and audit-out. */
const ENTRY = new URL(
  import.meta.url.endsWith(".ts") ? import.meta.url : "audit-scrub.mjs",
  import.meta.url,
);

type Work = { scrub: string };

/**
 * Resolves when nothing of what was deleted is left in the file or its log.
 * @throws NoRoomToScrub before anything is begun: looking costs nothing; else what the thread says
 */
export async function scrubInThread(db: Database.Database): Promise<void> {
  const file = db.name;
  const needed = roomToScrub(sizeOf(db));
  const { bavail, bsize } = await statfs(dirname(file));
  if (bavail * bsize < needed) throw new NoRoomToScrub(needed, bavail * bsize);
  const thread = new Worker(ENTRY, { workerData: { scrub: file } satisfies Work });
  await new Promise<void>((resolve, reject) => {
    thread.once("error", reject);
    thread.once("exit", (code) =>
      code === 0 ? resolve() : reject(new Error(`the thread that scrubs ended with ${code}`)),
    );
  });
}

function sizeOf(db: Database.Database): DatabaseSize {
  const count = (pragma: string): number => Number(db.pragma(pragma, { simple: true }));
  const bytes = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;
  return {
    ...{
      pages: count("page_count"),
      freePages: count("freelist_count"),
      pageBytes: count("page_size"),
    },
    ...{ fileBytes: bytes(db.name), logBytes: bytes(`${db.name}-wal`) },
  };
}

function isWork(data: unknown): data is Work {
  return typeof data === "object" && data !== null && "scrub" in data;
}

if (!isMainThread && isWork(workerData)) {
  const db = new Database(workerData.scrub, { fileMustExist: true, timeout: READERS_TIMEOUT_MS });
  try {
    db.pragma("synchronous = FULL");
    db.pragma("secure_delete = ON");
    scrub(db);
  } finally {
    db.close();
  }
}
