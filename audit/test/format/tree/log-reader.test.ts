import { mkdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { LogReader } from "../../../src/format/tree/log-reader.ts";
import { hashLeaf } from "../../../src/format/tree/merkle.ts";
import { TreeWriter } from "@resontech/auditd/checkpoint/tree-writer";
import { hasRoom } from "../../helper/has-room.ts";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const leavesFrom = (first: number, count: number) =>
  Array.from({ length: count }, (_, at) => {
    const leaf = Buffer.from(`{"n":${first + at}}`);
    return { leaf, leafHash: hashLeaf(leaf) };
  });

t.test("a partial file that a full one replaced reads as the full one's start", async (t) => {
  const logDir = join(temporaryFolder(t), "log");
  mkdirSync(logDir);
  const reader = new LogReader(logDir);
  const writer = await TreeWriter.open(logDir, 0, hasRoom);
  await (await writer.grow(leavesFrom(0, 100)))();
  const partial = {
    tile: await reader.read({ level: 0, index: 0, width: 100 }),
    entries: await reader.readEntries(0, 100),
  };
  const removeReplaced = await writer.grow(leavesFrom(100, 200));
  await removeReplaced();
  t.same(await reader.read({ level: 0, index: 0, width: 100 }), partial.tile);
  t.same(await reader.readEntries(0, 100), partial.entries);
  await t.rejects(
    reader.read({ level: 0, index: 1, width: 50 }),
    { code: "log_damaged", index: 256 },
    "another partial width is not there",
  );
  await t.rejects(reader.readEntries(7, 256), { code: "log_damaged", index: 1_792 });
});

t.test(
  "growing step by step, reopened between, gives the tree that growing at once gives",
  async (t) => {
    const folder = temporaryFolder(t);
    for (const name of ["steps", "once"]) mkdirSync(join(folder, name));
    const once = await TreeWriter.open(join(folder, "once"), 0, hasRoom);
    await once.grow(leavesFrom(0, 1_000));
    let size = 0;
    for (const step of [1, 254, 1, 1, 255, 256, 232]) {
      const writer = await TreeWriter.open(join(folder, "steps"), size, hasRoom);
      await (await writer.grow(leavesFrom(size, step)))();
      size += step;
    }
    const reopened = await TreeWriter.open(join(folder, "steps"), size, hasRoom);
    t.equal(size, 1_000);
    t.same(reopened.root(), once.root());
  },
);

t.test(
  "what the disk can't give back any more is damage, named with the first leaf that it leaves unproven",
  async (t) => {
    const logDir = join(temporaryFolder(t), "log");
    mkdirSync(logDir);
    const writer = await TreeWriter.open(logDir, 0, hasRoom);
    await (await writer.grow(leavesFrom(0, 600)))();
    // Reading a process's memory at its first page fails as a bad sector does.
    const bundle = join(logDir, "tile/entries/001");
    rmSync(bundle);
    symlinkSync("/proc/self/mem", bundle);
    await t.rejects(new LogReader(logDir).readEntries(1, 256), {
      code: "log_damaged",
      index: 256,
      message: /EIO/,
    });
  },
);
