import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import Database from "better-sqlite3";
import { pino } from "pino";
import t, { type Test } from "tap";
import { SearchIndex } from "../src/search/search-index.ts";
import { scrub, spillTo } from "@resontech/audit/scrub/scrub";
import { Needles } from "@resontech/vault/privacy/find-bytes";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { lacksMount, SmallDisk } from "@resontech/audit/testing/small-disk";
import { until } from "@resontech/audit/testing/until";
import { feedFrom, found, HaltingVault, withTokens } from "./helper/indexed-tokens.ts";

const MIB = 1_048_576;
const DISK_BYTES = 256 * MIB;
/** Has a few entries fill more pages than SQLite keeps in memory. */
const LONG = "x".repeat(3_000);
const PAGE_BYTES = 4_096;
const SCRUB = import.meta.resolve("@resontech/audit/scrub/scrub");
const SEARCH_INDEX = import.meta.resolve("../src/search/search-index.ts");

/** One for all tests: SQLite looks once where a process makes temporary files. */
const disk = lacksMount === false ? new SmallDisk(t, DISK_BYTES) : null;
if (disk !== null) spillTo(disk.folder);

const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(disk!.folder);
  return bavail * bsize;
};
/** Has the disk have so many bytes free, in whole pages, and no more than one page beyond. */
function leave(bytes: number): void {
  const { blocks, bsize } = statfsSync(disk!.folder);
  const used = blocks * bsize - freeBytes();
  disk!.resize(used + Math.ceil(bytes / PAGE_BYTES) * PAGE_BYTES);
}

function folderOf(t: Test, name: string): string {
  const folder = join(disk!.folder, name);
  disk!.resize(DISK_BYTES);
  mkdirSync(folder);
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Whether any of these tokens stands in a file of the folder. */
function stands(folder: string, tokens: readonly string[]): boolean {
  const needles = new Needles(tokens.length);
  for (const token of tokens) needles.add(Buffer.from(token, "hex"));
  return readdirSync(folder).some((file) => needles.isIn(readFileSync(join(folder, file))));
}

t.test(
  "without room to make the index anew it says so once, goes on, and takes nothing for done; with just that much room it does",
  { skip: lacksMount },
  async (t) => {
    const folder = folderOf(t, "room");
    const made = withTokens(folder, 4_000, LONG);
    t.teardown(() => made.index[Symbol.dispose]());
    const gone = made.tokens.map(({ addr }) => addr);
    const kept = made.tokens[11]!.agent;
    const size = statSync(join(folder, "search.sqlite")).size;
    const vault = new HaltingVault(t, () =>
      made.tokens.map((_, at) => ({ index: at, field: "src.addr" })),
    );
    vault.isHolding = false;
    const lines: string[] = [];
    const log = pino({ level: "warn" }, { write: (line: string) => void lines.push(line) });
    leave(size);
    const NO_ROOM = /^no room: needs (\d+) bytes, (\d+) are free$/;
    const isPending = (index: SearchIndex) => {
      t.same(index.tokenAct, { life: "", act: 0 }, "it is not noted");
      t.ok(index.hasRemnants);
      t.same(found(index, gone[7]!), []);
      t.same(found(index, kept), [11], "searches are answered");
    };

    const feed = feedFrom(t, vault, made.index, log);
    await until(() => NO_ROOM.test(feed.fault ?? ""));
    isPending(made.index);
    // In the write-ahead log; whether a copy is left in the file itself as well is a matter of how rows were moved.
    t.ok(stands(folder, gone), "it still stands");
    const filler = join(disk!.folder, "filler");
    writeFileSync(filler, Buffer.alloc(PAGE_BYTES));
    t.teardown(() => rmSync(filler, { force: true }));
    const saidAt = feed.fault;
    await until(() => feed.fault !== saidAt);
    t.match(feed.fault, NO_ROOM, "it looked again");
    t.equal(lines.length, 1, "and told it once");
    t.match(lines[0], /no room: needs/);
    await feed[Symbol.asyncDispose]();
    made.index[Symbol.dispose]();

    using next = new SearchIndex(folder, (reason) => t.fail(reason));
    isPending(next);
    const again = feedFrom(t, vault, next, log);
    await until(() => NO_ROOM.test(again.fault ?? ""));
    isPending(next);
    const [, needs] = NO_ROOM.exec(again.fault ?? "") ?? [];
    t.ok(Number(needs) < 4 * size, `${needs} bytes for a file of ${size}`);
    leave(Number(needs));
    await until(() => next.tokenAct.act === 1, 60_000);
    t.notOk(stands(folder, gone), "in every byte");
    t.same(found(next, kept), [11]);
    await until(() => again.fault === null);
    await again[Symbol.asyncDispose]();
    t.same(readdirSync(disk!.folder).toSorted(), ["filler", "room"], "no other file is left");
  },
);

t.test("a copy that fills the disk gives back what it took", { skip: lacksMount }, async (t) => {
  const folder = folderOf(t, "fails");
  const { index, tokens } = withTokens(folder, 4_000, LONG);
  index[Symbol.dispose]();
  const file = join(folder, "search.sqlite");
  // The copy beside the file has room, its way back into it does not.
  leave(1.5 * statSync(file).size);
  const before = freeBytes();
  const db = new Database(file);
  t.throws(() => scrub(db), { code: "SQLITE_FULL" });
  t.equal(statSync(`${file}-wal`).size, 0);
  t.ok(freeBytes() > before - MIB / 8, `${before - freeBytes()} bytes are not given back`);
  t.same(readdirSync(disk!.folder), ["fails"]);
  db.close();
  using next = new SearchIndex(folder, (reason) => t.fail(reason));
  t.same(found(next, tokens[11]!.agent), [11]);
});

t.test(
  "a copy whose process was killed leaves nothing once the next one has begun",
  { skip: lacksMount },
  async (t) => {
    const folder = folderOf(t, "killed");
    const { index, tokens } = withTokens(folder, 4_000, LONG);
    index.dropTokens(
      tokens.slice(0, 1_000).map((_, at) => ({ slug: "2026", index: at, field: "src.addr" })),
    );
    index[Symbol.dispose]();
    const log = join(folder, "search.sqlite-wal");
    const program = `
    import { spillTo } from "${SCRUB}";
    import { SearchIndex } from "${SEARCH_INDEX}";
    spillTo(${JSON.stringify(disk!.folder)});
    await new SearchIndex(${JSON.stringify(folder)}, () => {}).scrub();`;
    const script = join(temporaryFolder(t), "scrub.mjs");
    writeFileSync(script, program);
    const child = spawn(process.execPath, [script], { stdio: ["ignore", "ignore", "inherit"] });
    const exited = once(child, "exit");
    while (child.exitCode === null && !(existsSync(log) && statSync(log).size > 2 * MIB))
      await turn();
    child.kill("SIGKILL");
    t.same(await exited, [null, "SIGKILL"]);
    t.ok(statSync(log).size > 2 * MIB, "it was in the middle of it");
    using next = new SearchIndex(folder, (reason) => t.fail(reason));
    t.ok(next.hasRemnants, "it is not taken for done");
    t.equal(statSync(log).size, 0);
    t.same(readdirSync(disk!.folder), ["killed"]);
    t.same(readdirSync(folder).toSorted(), [
      "search.sqlite",
      "search.sqlite-shm",
      "search.sqlite-wal",
    ]);
    t.same(found(next, tokens[3_000]!.agent), [3_000]);
  },
);
