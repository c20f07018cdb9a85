import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { FolderTarget } from "../../src/targets/folder-target.ts";

const text = (content: string) => [Buffer.from(content)] as unknown as AsyncIterable<Uint8Array>;

async function allOf<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
}

/** A mounted disk, and what an unmount does: the name stands for an empty folder of the host. */
function disk(t: Test) {
  const dir = t.testdir({ target: {} });
  const [folder, away] = [join(dir, "target"), join(dir, "away")];
  return {
    ...{ folder, away },
    unmount: () => {
      renameSync(folder, away);
      mkdirSync(folder);
    },
  };
}

t.test("a file goes below the folder, with the folders that it needs", async (t) => {
  const { folder } = disk(t);
  const target = await FolderTarget.open(folder);
  await target.put("a/b/c", text("one"));
  await target.put("a/b/c", text("two"));
  t.equal(readFileSync(join(folder, "a/b/c"), "utf8"), "two");
  t.same(readdirSync(join(folder, "a/b")), ["c"]);
});

t.test(
  "a disk that was unmounted since gets nothing, and the folder in its place neither",
  async (t) => {
    const { folder, away, unmount } = disk(t);
    const target = await FolderTarget.open(folder);
    unmount();
    await t.rejects(target.put("a/b", text("one")), {
      ...{ code: "backup_target", message: `${folder} is another folder than it was` },
    });
    t.same([...readdirSync(folder), ...readdirSync(away)], []);
  },
);

t.test(
  "a disk that is unmounted in a write leaves nothing in the folder of its name",
  async (t) => {
    const { folder, away, unmount } = disk(t);
    const target = await FolderTarget.open(folder);
    async function* content() {
      unmount();
      yield Buffer.from("one");
    }
    await target.put("a/b", content());
    t.same(readdirSync(folder), []);
    t.equal(readFileSync(join(away, "a/b"), "utf8"), "one");
  },
);

t.test("what the disk refuses is told by the target's name and path", async (t) => {
  const { folder } = disk(t);
  const target = await FolderTarget.open(folder);
  await target.put("a", text("one"));
  await t.rejects(target.put("a/b", text("two")), {
    ...{ code: "backup_target", message: `open '${folder}/a'` },
  });
  rmSync(folder, { recursive: true });
  await t.rejects(target.put("c", text("three")), { code: "backup_target" });
});

t.test(
  "a link that the target's owner planted is followed by no write, read or removal",
  async (t) => {
    const dir = t.testdir({ target: {}, host: { secret: "of the host" } });
    const [folder, host] = [join(dir, "target"), join(dir, "host")];
    const target = await FolderTarget.open(folder);
    symlinkSync(host, join(folder, "data"));
    symlinkSync(join(host, "secret"), join(folder, "claim"));
    const refused = { code: "backup_target" };
    await t.rejects(target.put("data/inner/new", text("one")), refused);
    await t.rejects(allOf(target.get("data/secret")), refused);
    await t.rejects(allOf(target.get("claim")), refused);
    await t.rejects(target.remove("data/secret"), refused);
    await t.rejects(allOf(target.list("data")), refused);
    t.same(readdirSync(host), ["secret"]);
    // A link in the place of a file is replaced, and what the link led to stays.
    await target.put("claim", text("two"));
    t.equal(readFileSync(join(host, "secret"), "utf8"), "of the host");
    t.equal(readFileSync(join(folder, "claim"), "utf8"), "two");
  },
);
