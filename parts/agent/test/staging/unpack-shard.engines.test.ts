import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import t, { type Test } from "tap";
import { MemberFailure } from "../../src/member-failure.ts";
import { unpackShard } from "../../src/staging/unpack-shard.ts";
import { startObjectServer } from "../helper/object-server.ts";
import type { FetchedInput } from "../../src/staging/fetch-file.ts";
import { type ZipMember, zipOf } from "../helper/zip.ts";

const run = promisify(execFile);
const MIB = 1024 * 1024;

async function unpack(t: Test, zip: Uint8Array, maxBytes = MIB, input: Partial<FetchedInput> = {}) {
  const out = join(t.testdir({ out: {} }), "out");
  await using server = await startObjectServer(zip);
  const counts: number[] = [];
  const told = { onBytes: () => undefined, onFiles: (files: number) => counts.push(files) };
  const object = { target: "a.zip", sizeBytes: zip.length, etag: '"1-2"', ...input };
  await unpackShard(server.source, object, out, maxBytes, told, AbortSignal.timeout(60_000));
  return { out, counts, requests: server.requests };
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
  await refused(t, zipOf([{ name: "../escape", body: "x" }]), /no usable path/);
  await refused(t, zipOf([{ name: "/abs", body: "x" }]), /no usable path/);
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
  await refused(t, zipOf([{ name: "x".repeat(300), body: "1" }]), /no usable path/);
});

t.test("a bomb is refused by what it declares, and when it lies, by what it yields", async (t) => {
  const zeros = Buffer.alloc(4 * MIB);
  const tooLarge = { message: /more than the 1048576 bytes of its site's disk/ };
  await t.rejects(unpack(t, zipOf([{ name: "a", body: zeros }])), tooLarge);
  const together = zipOf([
    { name: "a", body: zeros.subarray(0, MIB) },
    { name: "b", body: "1" },
  ]);
  await t.rejects(unpack(t, together), tooLarge);
  await refused(
    t,
    zipOf([{ name: "a", body: zeros, claimedSize: 10 }]),
    /too many bytes|can't be unpacked/,
  );
  await refused(t, zipOf([{ name: "a", body: zeros, claimedSize: MIB / 2 }]), /too many bytes/);
});

t.test("damaged bytes are the shard's fault", async (t) => {
  const zip = zipOf([
    { name: "a", body: Buffer.from(Array.from({ length: 5_000 }, (_, n) => (n * 31) % 251)) },
  ]);
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
      isStored
        ? /"a\/data.bin" is damaged: its CRC-32 differs/
        : /"a\/data.bin" (is damaged|can't be unpacked)/,
    );
  }
});

t.test(
  "large files, small ones and those of a packer that could not seek come out as they went in",
  async (t) => {
    const [text, noise] = [Buffer.alloc(3 * MIB, "0.25,0.5,0.75\n"), randomBytes(2 * MIB + 17)];
    const members: ZipMember[] = [
      { name: "large/deflated.csv", body: text },
      { name: "large/stored.bin", body: noise, isStored: true },
      { name: "small.bin", body: noise.subarray(0, 1000) },
      { name: "empty.bin", isStored: true },
    ];
    const { out } = await unpack(t, zipOf(members), 8 * MIB);
    t.ok(readFileSync(join(out, "large/deflated.csv")).equals(text));
    t.ok(readFileSync(join(out, "large/stored.bin")).equals(noise));
    t.ok(readFileSync(join(out, "small.bin")).equals(noise.subarray(0, 1000)));
    t.equal(readFileSync(join(out, "empty.bin")).length, 0);
    const { out: streamed } = await unpack(t, zipOf(members, { isStreamed: true }), 8 * MIB);
    t.ok(readFileSync(join(streamed, "large/stored.bin")).equals(noise));
  },
);

t.test(
  "a connection that breaks is gone on from, also within a file that is being unpacked",
  async (t) => {
    const [text, noise] = [Buffer.alloc(3 * MIB, "0.25,0.5,0.75\n"), randomBytes(2 * MIB)];
    const zip = zipOf([
      { name: "a", body: text },
      { name: "b", body: noise },
      { name: "c", body: "end" },
    ]);
    const out = join(t.testdir({ out: {} }), "out");
    // The first request is for the directory.
    await using server = await startObjectServer(zip, [Number.POSITIVE_INFINITY, 5_000, 700_000]);
    const told = { onBytes: () => undefined, onFiles: () => undefined };
    const object = {
      target: "a.zip",
      sizeBytes: zip.length,
      etag: createHash("md5").update(zip).digest("hex"),
    };
    await unpackShard(server.source, object, out, 8 * MIB, told, AbortSignal.timeout(60_000));
    t.ok(readFileSync(join(out, "a")).equals(text));
    t.ok(readFileSync(join(out, "b")).equals(noise));
    t.equal(readFileSync(join(out, "c"), "utf8"), "end");
    t.equal(server.requests.length, 4);
    // Of the few bytes before the first break none may have arrived.
    t.match(server.requests[3], /^bytes=[1-9]\d*-/);
  },
);

t.test("what is not the object that was accepted is no shard, whole as it may be", async (t) => {
  const zip = zipOf([{ name: "a", body: "1" }]);
  const other = createHash("md5").update("other").digest("hex");
  await t.rejects(unpack(t, zip, MIB, { etag: `"${other}"` }), {
    message: /is not what was accepted/,
  });
  await t.rejects(
    unpack(t, zip, MIB, { sha256: createHash("sha256").update("other").digest("hex") }),
    {
      message: /is not what was accepted/,
    },
  );
  await unpack(t, zip, MIB, { etag: `"${createHash("md5").update(zip).digest("hex")}"` });
});

t.test(
  "entries that lie over one another are refused: few bytes would be unpacked as many",
  async (t) => {
    const zip = zipOf([
      { name: "a", body: "1" },
      { name: "b", body: "2" },
    ]);
    // The second's place in the directory: that of the first.
    zip.writeUInt32LE(0, zip.lastIndexOf("PK\x01\x02") + 42);
    await refused(t, zip, /lies over another/);
  },
);

t.test("a file system that is full is not", async (t) => {
  const dir = t.testdir({ out: {} });
  const zip = zipOf([{ name: "a", body: randomBytes(MIB / 2) }]);
  await using server = await startObjectServer(zip);
  const object = { target: "a.zip", sizeBytes: zip.length, etag: "" };
  const told = { onBytes: () => undefined, onFiles: () => undefined };
  await run("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", join(dir, "out")]);
  try {
    const unpacking = unpackShard(
      server.source,
      object,
      join(dir, "out"),
      MIB,
      told,
      AbortSignal.timeout(60_000),
    );
    await t.rejects(unpacking, { code: "ENOSPC" });
  } finally {
    await run("umount", [join(dir, "out")]);
  }
});
