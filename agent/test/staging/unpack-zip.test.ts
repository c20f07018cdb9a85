import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { MemberFailure } from "../../src/members/member-failure.ts";
import { unpackZip } from "../../src/staging/unpack-zip.ts";
import { type ZipMember, zipOf } from "../helper/zip.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;

async function unpack(t: Test, zip: Uint8Array, maxBytes = MIB) {
  const dir = t.testdir({ out: {} });
  writeFileSync(join(dir, "a.zip"), zip);
  const counts: number[] = [];
  await unpackZip(join(dir, "a.zip"), join(dir, "out"), maxBytes, (files) => counts.push(files), AbortSignal.timeout(30_000));
  return { out: join(dir, "out"), counts };
}

async function refused(t: Test, zip: Uint8Array, why: RegExp, maxBytes?: number): Promise<void> {
  const error = await unpack(t, zip, maxBytes).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  t.ok(error instanceof MemberFailure, String(error));
  if (!(error instanceof MemberFailure)) return;
  t.equal(error.reason, "shard_invalid");
  t.match(error.message, why);
}

t.test("unpacks any layout and tells how far it is", async (t) => {
  const members: ZipMember[] = [
    { name: "a/", mode: 0o040755 },
    { name: "a/one.csv", body: "1\n" },
    { name: "b/c/d.bin", body: Buffer.alloc(100_000, 7) },
    { name: "empty" },
    ...Array.from({ length: 600 }, (_, n) => ({ name: `many/${n}`, body: String(n) })),
  ];
  const { out, counts } = await unpack(t, zipOf(members));
  t.equal(readFileSync(join(out, "a/one.csv"), "utf8"), "1\n");
  t.equal(readFileSync(join(out, "b/c/d.bin")).length, 100_000);
  t.equal(readdirSync(join(out, "many")).length, 600);
  t.strictSame(counts, [256, 512, 604]);
});

t.test("what is hostile or broken is refused with its reason", async (t) => {
  await refused(t, Buffer.from("not a zip"), /no zip file/);
  await refused(t, Buffer.alloc(0), /no zip file/);
  await refused(t, zipOf([{ name: "../escape", body: "x" }]), /invalid relative path|outside/);
  await refused(t, zipOf([{ name: "/abs", body: "x" }]), /absolute path/);
  await refused(t, zipOf([{ name: "l", body: "/etc/passwd", mode: 0o120777 }]), /link or a device/);
  await refused(t, zipOf([{ name: "l", body: "x", flags: 0x0801 }]), /encrypted/);
  await refused(
    t,
    zipOf([
      { name: "twice", body: "1" },
      { name: "twice", body: "2" },
    ]),
    /twice/,
  );
  await refused(
    t,
    zipOf([
      { name: "a", body: "1" },
      { name: "./a", body: "2" },
    ]),
    /twice|invalid/,
  );
  await refused(
    t,
    zipOf([
      { name: "a", body: "1" },
      { name: "a/b", body: "2" },
    ]),
    /can't be unpacked/,
  );
  await refused(
    t,
    zipOf([
      { name: "a/b", body: "1" },
      { name: "a", body: "2" },
    ]),
    /twice/,
  );
  await refused(t, zipOf([{ name: "x".repeat(300), body: "1" }]), /can't be unpacked/);
});

t.test("a bomb is refused by what it declares, and when it lies, by what it yields", async (t) => {
  const zeros = Buffer.alloc(4 * MIB);
  await refused(t, zipOf([{ name: "a", body: zeros }]), /more than 1048576 bytes/);
  await refused(
    t,
    zipOf([
      { name: "a", body: zeros.subarray(0, MIB) },
      { name: "b", body: "1" },
    ]),
    /more than/,
  );
  await refused(t, zipOf([{ name: "a", body: zeros, claimedSize: 10 }]), /too many bytes|can't be unpacked/);
});

t.test("damaged bytes are the shard's fault", async (t) => {
  const zip = zipOf([{ name: "a", body: Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 251)) }]);
  zip.fill(0xff, 60, 160);
  await refused(t, zip, /can't be unpacked/);
  await refused(t, zip.subarray(0, zip.length - 30), /no zip file|directory/);
});

t.test("one flipped byte is the shard's fault, stored or deflated", async (t) => {
  const body = Buffer.alloc(5_000, "a line of numbers\n");
  for (const isStored of [true, false]) {
    const zip = zipOf([
      { name: "before", body: "1" },
      { name: "a/data.bin", body, isStored },
    ]);
    const at = zip.indexOf("a/data.bin") + "a/data.bin".length + 12;
    zip.writeUInt8(zip.readUInt8(at) ^ 1, at);
    await refused(
      t,
      zip,
      isStored ? /"a\/data.bin" is damaged: its CRC-32 differs/ : /"a\/data.bin" (is damaged|can't be unpacked)/,
    );
  }
});

t.test("a file system that is full is not", async (t) => {
  const dir = t.testdir({ out: {} });
  writeFileSync(join(dir, "a.zip"), zipOf([{ name: "a", body: randomBytes(MIB / 2) }]));
  await run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", join(dir, "out")]);
  try {
    await t.rejects(
      unpackZip(join(dir, "a.zip"), join(dir, "out"), MIB, () => undefined, AbortSignal.timeout(5_000)),
      {
        code: "ENOSPC",
      },
    );
  } finally {
    await run("umount", [join(dir, "out")]);
  }
});
