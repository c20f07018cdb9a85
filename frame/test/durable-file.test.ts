import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { removeLeftovers, replaceFile, writeImmutable } from "../src/durable-file.ts";

t.test(
  "of many writers at once each writes a whole file, and nothing is left beside it",
  async (t) => {
    const folder = t.testdir();
    const path = join(folder, "checkpoint");
    const contents = Array.from({ length: 50 }, (_, at) => `${at} `.repeat(20_000));
    const writing = contents.map((content) => replaceFile(path, content, 0o440));
    const seen = new Set<string>();
    const done = new AbortController();
    const reading = (async () => {
      for (; !done.signal.aborted; await new Promise(setImmediate))
        try {
          seen.add(readFileSync(path, "utf8"));
        } catch {}
    })();
    await t.resolves(
      Promise.all(writing).finally(() => {
        done.abort();
      }),
    );
    await reading;
    for (const content of seen)
      t.ok(contents.includes(content), "what a reader finds is what one of them wrote");
    t.same(readdirSync(folder), ["checkpoint"]);
    t.equal(statSync(path).mode & 0o777, 0o440);

    const same = Buffer.alloc(200_000, 7);
    await Promise.all(Array.from({ length: 20 }, () => writeImmutable(join(folder, "000"), same)));
    t.ok(readFileSync(join(folder, "000")).equals(same));
    await t.rejects(writeImmutable(join(folder, "000"), Buffer.alloc(10)), {
      code: "log_conflict",
    });
    t.same(readdirSync(folder), ["000", "checkpoint"]);
  },
);

t.test("another's file of a like name is in nobody's way", async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, "checkpoint.new", "full"), { recursive: true });
  await replaceFile(join(folder, "checkpoint"), "1", 0o440);
  await writeImmutable(join(folder, "tile"), Buffer.from("2"));
  t.same(readdirSync(folder), ["checkpoint", "checkpoint.new", "tile"]);
});

t.test("a write that fails leaves nothing, and says why", async (t) => {
  const folder = t.testdir();
  mkdirSync(join(folder, "taken", "full"), { recursive: true });
  await t.rejects(replaceFile(join(folder, "taken"), "1", 0o440), {
    code: /EISDIR|ENOTEMPTY|EEXIST/,
  });
  await t.rejects(replaceFile(join(folder, "none", "file"), "1", 0o440), { code: "ENOENT" });
  await t.rejects(writeImmutable(join(folder, "none", "file"), Buffer.from("1")), {
    code: "ENOENT",
  });
  t.same(readdirSync(folder), ["taken"]);
});

t.test("what killed writers left is removed, and nothing else", async (t) => {
  const folder = t.testdir();
  const left = ["checkpoint.0123456789abcdef.new", "2026.ed25519.pem.ffffffffffffffff.new"];
  const kept = [
    "policy.new",
    "checkpoint",
    "x.0123456789ABCDEF.new",
    "x.0123456789abcdef.new.txt",
    "0123456789abcdef.new",
  ];
  for (const name of [...left, ...kept]) writeFileSync(join(folder, name), "");
  mkdirSync(join(folder, "y.0123456789abcdef.new"));
  await removeLeftovers(folder, { olderThanMs: 60_000 });
  t.equal(readdirSync(folder).length, left.length + kept.length + 1, "a writer may be at work");
  utimesSync(join(folder, left[0]!), new Date(), new Date(Date.now() - 61_000));
  await removeLeftovers(folder, { olderThanMs: 60_000 });
  t.equal(readdirSync(folder).length, left.length + kept.length);
  await removeLeftovers(folder, { of: "other" });
  t.equal(readdirSync(folder).length, left.length + kept.length);
  await removeLeftovers(folder);
  t.same(readdirSync(folder).sort(), [...kept, "y.0123456789abcdef.new"].sort());
  await removeLeftovers(join(folder, "none"));
});
