import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { NodeDisk } from "../../src/disk/node-disk.ts";

const MIB = 1024 ** 2;

/** A file system of 3 GiB, of which nothing is there until it is written. */
function smallDisk(t: Test): { dir: string; fill: (leaveBytes: number) => void; free: () => void } {
  const image = join(t.testdir({}), "disk.img");
  const dir = mkdtempSync(join(tmpdir(), "node-disk-"));
  execFileSync("truncate", ["--size", "3G", image]);
  execFileSync("mkfs.ext4", ["-q", "-m", "0", image]);
  execFileSync("mount", ["-o", "loop", image, dir]);
  t.teardown(() => {
    execFileSync("umount", [dir]);
    rmdirSync(dir);
  });
  const filler = join(dir, "filler");
  return {
    dir,
    fill: (leaveBytes) => {
      const { bavail, bsize } = statfsSync(dir);
      execFileSync("fallocate", ["--length", String(bavail * bsize - leaveBytes), filler]);
    },
    free: () => rmSync(filler),
  };
}

t.test(
  "at its end the disk counts as full, and the reserve is there for what runs; with enough room it is taken back",
  (t) => {
    const { dir, fill, free } = smallDisk(t);
    const disk = new NodeDisk(dir);
    const reserve = join(dir, "reserve");
    t.equal(disk.isFull, false);
    t.ok(existsSync(reserve));
    fill(200 * MIB);
    t.equal(disk.check(), false, "there is room beside the reserve");
    free();
    fill(100 * MIB);
    t.equal(disk.check(), true);
    t.notOk(existsSync(reserve));
    t.equal(disk.check(), true, "what the reserve left is not enough to begin again");
    t.equal(new NodeDisk(dir).isFull, true, "an agent that is started meanwhile knows");
    free();
    t.equal(disk.check(), false);
    t.ok(existsSync(reserve));
    t.end();
  },
);

t.test(
  "a write of our own that finds no room gets the reserve's, and the disk counts as full at once",
  (t) => {
    const { dir, fill } = smallDisk(t);
    let heard = 0;
    const disk = new NodeDisk(dir, () => (heard += 1));
    fill(32 * MIB);
    t.throws(() => writeFileSync(join(dir, "others"), Buffer.alloc(64 * MIB)), { code: "ENOSPC" });
    const record = Buffer.alloc(8 * MIB);
    t.throws(() => writeFileSync(join(dir, "record"), record), { code: "ENOSPC" });
    disk.withRoom(() => writeFileSync(join(dir, "record"), record));
    t.equal(disk.isFull, true);
    t.equal(heard, 1);
    const noRoom = Object.assign(new Error("no room"), { code: "ENOSPC" });
    t.throws(() =>
      disk.withRoom(() => {
        throw noRoom;
      }),
    );
    t.equal(heard, 1, "what is known is not told again");
    t.throws(
      () =>
        disk.withRoom(() => {
          throw new Error("something else");
        }),
      { message: "something else" },
    );
    t.end();
  },
);
