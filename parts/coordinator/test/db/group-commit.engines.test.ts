import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Database from "better-sqlite3";
import t, { type Test } from "tap";
import { GroupCommit } from "../../src/db/group-commit.ts";
import { Meta } from "../../src/db/meta.ts";
import { openDatabase } from "../../src/db/open-database.ts";

function build(t: Test) {
  const file = join(t.testdir(), "c.db");
  const db = new Database(file);
  db.pragma("journal_mode = WAL");
  db.exec("CREATE TABLE a (id INTEGER PRIMARY KEY, word TEXT UNIQUE) STRICT");
  const other = new Database(file, { readonly: true });
  t.teardown(() => {
    other.close();
    db.close();
  });
  const words = () => other.prepare("SELECT word FROM a ORDER BY id").pluck().all();
  const insert = (word: string) => (handle: Database.Database) =>
    handle.prepare("INSERT INTO a (word) VALUES (?)").run(word).changes;
  return { db, words, insert, commit: new GroupCommit(db) };
}

t.test("what queues together shares a commit, and callers are answered after it", async (t) => {
  const { commit, words, insert } = build(t);
  const seen: unknown[] = [];
  await Promise.all(
    ["a", "b", "c"].map((word) => commit.run(insert(word)).then(() => seen.push(words().length))),
  );
  t.same(seen, [3, 3, 3], "each saw what another connection can read");
  t.same(commit.counts, { commits: 1, transitions: 3 });
});

t.test("at most 256 in one commit, in the order they came", async (t) => {
  const { commit, words, insert } = build(t);
  const all = Array.from({ length: 600 }, (_, n) => `w${n}`);
  await Promise.all(all.map((word) => commit.run(insert(word))));
  t.same(words(), all);
  t.same(commit.counts, { commits: 3, transitions: 600 });
});

t.test("one that throws is rolled back alone", async (t) => {
  const { commit, words, insert } = build(t);
  const results = await Promise.allSettled([
    commit.run(insert("a")),
    commit.run((db) => {
      insert("lost")(db);
      throw new Error("no");
    }),
    commit.run(insert("a")),
    commit.run(insert("b")),
  ]);
  t.same(
    results.map(({ status }) => status),
    ["fulfilled", "rejected", "rejected", "fulfilled"],
  );
  t.same(words(), ["a", "b"]);
});

t.test("a commit that fails answers none of its callers with success", async (t) => {
  const { db, commit, words, insert } = build(t);
  db.exec(
    "CREATE TABLE child (a INTEGER REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED) STRICT; PRAGMA foreign_keys = ON",
  );
  const results = await Promise.allSettled([
    commit.run(insert("a")),
    commit.run((handle) => handle.exec("INSERT INTO child VALUES (99)")),
  ]);
  t.same(
    results.map(({ status }) => status),
    ["rejected", "rejected"],
  );
  t.same(words(), []);
  await commit.run(insert("later"));
  t.same(words(), ["later"]);
});

t.test(
  "listeners hear of each commit before its callers; after close nothing is taken",
  async (t) => {
    const { commit, words, insert } = build(t);
    const order: string[] = [];
    commit.listeners.add(() => order.push("listener"));
    await commit.run(insert("a")).then(() => order.push("caller"));
    t.same(order, ["listener", "caller"]);
    const last = commit.run(insert("b"));
    commit.close();
    await last;
    t.same(words(), ["a", "b"]);
    await t.rejects(commit.run(insert("c")), /closed/);
  },
);

t.test(
  "effects come after their commit and before the listeners, in order; those of what is rolled back never",
  async (t) => {
    const { db, commit, words, insert } = build(t);
    db.exec(
      "CREATE TABLE child (a INTEGER REFERENCES a (id) DEFERRABLE INITIALLY DEFERRED) STRICT; PRAGMA foreign_keys = ON",
    );
    const order: string[] = [];
    const note = (word: string) =>
      commit.afterCommit(() => order.push(`${word} of ${words().length}`));
    commit.listeners.add(() => order.push("listener"));
    await Promise.allSettled([
      commit.run((handle) => {
        note("first");
        insert("a")(handle);
        note("second");
      }),
      commit.run((handle) => {
        insert("lost")(handle);
        note("lost");
        throw new Error("no");
      }),
      commit.run((handle) => {
        insert("b")(handle);
        note("third");
      }),
    ]);
    t.same(order, ["first of 2", "second of 2", "third of 2", "listener"]);
    order.length = 0;
    await Promise.allSettled([
      commit.run(() => note("of a commit that fails")),
      commit.run((handle) => handle.exec("INSERT INTO child VALUES (99)")),
    ]);
    note("outside");
    t.same(order, ["listener", "outside of 2"]);
  },
);

t.test(
  "on a full disk nothing of a commit is kept, each caller is told, and when space returns it goes on",
  async (t) => {
    const disk = mkdtempSync(join(tmpdir(), "full-"));
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=2m", "tmpfs", disk]);
    t.teardown(() => {
      execFileSync("umount", [disk]);
      rmdirSync(disk);
    });
    using opened = openDatabase(join(disk, "c.db"));
    const commit = new GroupCommit(opened.write);
    const meta = new Meta(opened.write);
    await commit.run(() => meta.set("clock-anchor", "before"));
    const filler = join(disk, "filler");
    const fd = openSync(filler, "w");
    t.throws(
      () => {
        while (true) writeSync(fd, Buffer.alloc(4096));
      },
      { code: "ENOSPC" },
    );
    closeSync(fd);
    const large = "x".repeat(512 * 1024);
    const results = await Promise.allSettled([
      commit.run(() => meta.set("clock-anchor", "while full")),
      commit.run(() => meta.set("written-at", large)),
    ]);
    for (const result of results)
      t.match(result, {
        status: "rejected",
        reason: { name: "DatabaseUnavailable", state: "full" },
      });
    t.equal(commit.isWritable, false);
    t.equal(meta.text("clock-anchor"), "before");

    rmSync(filler);
    await commit.run(() => meta.set("written-at", large));
    t.equal(commit.isWritable, true);
    t.equal(meta.text("written-at"), large);
  },
);
