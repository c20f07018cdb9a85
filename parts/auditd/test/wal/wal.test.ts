import {
  copyFileSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { crc32c } from "../../src/wal/crc32c.ts";
import { Wal } from "../../src/wal/wal.ts";
import { readWal } from "../../src/wal/wal-recovery.ts";
import { hasRoom } from "@resontech/audit/testing/has-room";
import { temporaryFolder } from "@resontech/house/temporary-folder";

const SEGMENT_BYTES = 2_097_152;
const leavesFrom = (first: number, count: number, bytes = 100) =>
  Array.from({ length: count }, (_, at) =>
    Buffer.from(`{"leaf":${first + at},"filling":"${"x".repeat(bytes)}"}`),
  );

async function filled(t: Test, batches: number, bytes?: number): Promise<string> {
  const folder = join(temporaryFolder(t), "wal");
  const wal = await Wal.open(folder, SEGMENT_BYTES, hasRoom);
  for (let batch = 0; batch < batches; batch++)
    await wal.append(batch * 10, leavesFrom(batch * 10, 10, bytes));
  await wal.close();
  return folder;
}

/** One batch in a segment of its own, as the next life writes it. */
async function append(folder: string, firstIndex: number): Promise<void> {
  const wal = await Wal.open(folder, SEGMENT_BYTES, hasRoom);
  await wal.append(firstIndex, leavesFrom(firstIndex, 10));
  await wal.close();
}

/** Keeps 40 bytes of the last batch of the newest segment. */
function tearLast(folder: string, batches: number): void {
  const path = join(folder, readdirSync(folder).sort().at(-1)!);
  const segment = readFileSync(path);
  const frames = [...segment.toString("latin1").matchAll(/RTW1/g)].map(({ index }) => index);
  segment.fill(0, frames[batches - 1]! + 40);
  writeFileSync(path, segment);
}

t.test("CRC-32C gives the values of RFC 3720 B.4", async (t) => {
  t.equal(crc32c(Buffer.from("123456789")), 0xe3069283);
  t.equal(crc32c(Buffer.alloc(32)), 0x8a9136aa);
  t.equal(crc32c(Buffer.alloc(32, 0xff)), 0x62a8ab43);
});

t.test("gives back every batch, over several segments", async (t) => {
  const folder = await filled(t, 60, 10_000);
  t.ok(readdirSync(folder).length > 2);
  const { leaves, cut } = await readWal(folder, 0);
  t.equal(cut, null);
  t.same(leaves, leavesFrom(0, 600, 10_000));
  t.same((await readWal(folder, 595)).leaves, leavesFrom(595, 5, 10_000));
});

t.test("cuts an incomplete last batch, wherever it breaks off", async (t) => {
  const folder = await filled(t, 3);
  const [name] = readdirSync(folder).filter((file) => file.endsWith(".seg"));
  const path = join(folder, name!);
  const whole = readFileSync(path);
  const frames = [...whole.toString("latin1").matchAll(/RTW1/g)].map(({ index }) => index);
  const last = frames[2]!;
  for (const keep of [1, 4, 20, 24, 30, 500, 1_000]) {
    const torn = Buffer.from(whole);
    torn.fill(0, last + keep);
    writeFileSync(path, torn);
    const { leaves, cut } = await readWal(folder, 0);
    t.equal(leaves.length, 20, `${keep} bytes of it`);
    t.match(cut, { index: 20, bytes: Number });
  }
  const headless = Buffer.from(whole);
  headless.fill(0, last, last + 24);
  writeFileSync(path, headless);
  t.match(
    (await readWal(folder, 0)).cut,
    { index: 20 },
    "later pages may reach the disk before the first",
  );
});

t.test(
  "a batch that an earlier start cut is no fault: the next segment begins in its place",
  async (t) => {
    const folder = await filled(t, 3);
    tearLast(folder, 3);
    await append(folder, 20);
    const { leaves, cut } = await readWal(folder, 0);
    t.equal(cut, null, "that start has said so");
    t.same(leaves, leavesFrom(0, 30));
    t.same((await readWal(folder, 25)).leaves, leavesFrom(25, 5), "wherever the checkpoint stands");
  },
);

t.test(
  "power that fails again while a batch is cut leaves two bad ones, and both are cut",
  async (t) => {
    const folder = await filled(t, 3);
    tearLast(folder, 3);
    await append(folder, 20);
    tearLast(folder, 1);
    const { leaves, cut } = await readWal(folder, 0);
    t.same(leaves, leavesFrom(0, 20));
    t.match(cut, { index: 20, bytes: 80 });
  },
);

t.test(
  "a bad batch at the end of a segment is not cut when what follows does not take its place",
  async (t) => {
    const folder = await filled(t, 3);
    tearLast(folder, 3);
    await append(folder, 30);
    await t.rejects(readWal(folder, 0), {
      code: "log_damaged",
      index: 20,
      message: /bad, and others follow/,
    });
  },
);

t.test("stops at a bad batch that others follow, and names the leaf", async (t) => {
  const folder = await filled(t, 3);
  const [name] = readdirSync(folder).filter((file) => file.endsWith(".seg"));
  const path = join(folder, name!);
  const whole = readFileSync(path);
  for (const at of [1, 5, 13, 17, 21, 40]) {
    const second = whole.indexOf("RTW1", 10);
    const damaged = Buffer.from(whole);
    damaged[second + at]! ^= 0x01;
    writeFileSync(path, damaged);
    await t.rejects(readWal(folder, 0), { code: "log_damaged", index: 10 }, `byte ${at}`);
  }
});

t.test(
  "stops when batches or segments are missing, or the log ends below the checkpoint",
  async (t) => {
    const folder = await filled(t, 60, 10_000);
    const segments = readdirSync(folder).filter((file) => file.endsWith(".seg"));
    await t.rejects(readWal(folder, 601), { code: "log_damaged", index: 600 });
    copyFileSync(join(folder, segments[1]!), join(folder, "kept"));
    rmSync(join(folder, segments[1]!));
    await t.rejects(readWal(folder, 0), { code: "log_damaged" });
    copyFileSync(join(folder, "kept"), join(folder, segments[1]!));
    rmSync(join(folder, segments[0]!));
    await t.rejects(readWal(folder, 5), { code: "log_damaged", index: 5 });
    truncateSync(join(folder, segments[1]!), 100);
    await t.rejects(readWal(folder, 0), { code: "log_damaged" });
  },
);

t.test("deletes segments only once they are covered", async (t) => {
  const folder = join(temporaryFolder(t), "wal");
  const wal = await Wal.open(folder, SEGMENT_BYTES, hasRoom);
  for (let batch = 0; batch < 60; batch++)
    await wal.append(batch * 10, leavesFrom(batch * 10, 10, 10_000));
  const before = readdirSync(folder).length;
  await wal.release(10);
  t.equal(readdirSync(folder).length, before);
  await wal.release(600);
  t.ok(readdirSync(folder).length < before);
  t.equal(await wal.isInPlace(), true);
  for (const name of readdirSync(folder)) rmSync(join(folder, name));
  t.equal(await wal.isInPlace(), false, "sees that its file was removed");
  await wal.close();
});
