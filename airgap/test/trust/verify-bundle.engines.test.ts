import { readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { SigningKey } from "../../src/trust/signing-key.ts";
import { verifyBundle } from "../../src/trust/verify-bundle.ts";
import { makeSmallBundle } from "./small-bundle.ts";

function filesOf(bundle: string): string[] {
  return readdirSync(bundle, { recursive: true, encoding: "utf8" }).filter((name) =>
    statSync(join(bundle, name)).isFile(),
  );
}

t.test("a whole bundle is what was signed, and the same release is the same bytes", async (t) => {
  const { bundle, key, release, rewrite } = await makeSmallBundle(t.testdir());
  const seen: number[] = [];
  const verified = await verifyBundle(bundle, {
    publicKeyPem: key.publicPem,
    onProgress: (done) => seen.push(done),
  });
  t.strictSame(verified.release, release);
  t.equal(seen.at(-1), verified.bytes);
  const first = filesOf(bundle).map((name) => [name, readFileSync(join(bundle, name))]);
  rewrite();
  t.strictSame(
    filesOf(bundle).map((name) => [name, readFileSync(join(bundle, name))]),
    first,
  );
});

t.test("a flipped bit in any file is refused by the file's name", async (t) => {
  const { bundle, key } = await makeSmallBundle(t.testdir());
  const names = filesOf(bundle);
  t.ok(names.length >= 11);
  for (const name of names) {
    const whole = readFileSync(join(bundle, name));
    for (const [place, offset] of Object.entries({
      first: 0,
      middle: whole.length >> 1,
      last: whole.length - 1,
    })) {
      const damaged = Buffer.from(whole);
      damaged[offset] = (damaged[offset] ?? 0) ^ 1;
      writeFileSync(join(bundle, name), damaged);
      await t.rejects(
        verifyBundle(bundle, { publicKeyPem: key.publicPem }),
        { code: "bundle_refused", file: name },
        `${name}, ${place} byte`,
      );
    }
    writeFileSync(join(bundle, name), whole);
  }
  await verifyBundle(bundle, { publicKeyPem: key.publicPem });
});

t.test("a missing, longer or added file is refused by its name", async (t) => {
  const { bundle, key, release, rewrite } = await makeSmallBundle(t.testdir());
  const refused = async (file: string, why: string) =>
    await t.rejects(
      verifyBundle(bundle, { publicKeyPem: key.publicPem }),
      { code: "bundle_refused", file },
      why,
    );
  for (const name of filesOf(bundle)) {
    rmSync(join(bundle, name));
    await refused(name, `${name} is missing`);
    rewrite();
  }
  const blob = `blobs/sha256/${release.blobs[0]?.sha256}`;
  writeFileSync(
    join(bundle, blob),
    Buffer.concat([readFileSync(join(bundle, blob)), Buffer.from("x")]),
  );
  await refused(blob, "longer");
  rewrite();
  writeFileSync(join(bundle, "media", "2.json"), "{}");
  await refused("media/2.json", "a file that the release does not name");
  rewrite();
  symlinkSync("/etc/passwd", join(bundle, "blobs", "sha256", "0".repeat(64)));
  await refused(`blobs/sha256/${"0".repeat(64)}`, "a link");
  rewrite();
  rmSync(join(bundle, blob));
  symlinkSync("/dev/zero", join(bundle, blob));
  await refused(blob, "a link in place of a blob");
});

t.test("another key's bundle is refused", async (t) => {
  const { bundle } = await makeSmallBundle(t.testdir());
  const other = SigningKey.development(join(t.testdirName, "other.pem"));
  await t.rejects(verifyBundle(bundle, { publicKeyPem: other.publicPem }), {
    code: "bundle_refused",
    file: "tuf/1.root.json",
  });
});

t.test(
  "a signed release whose image refers to what is not inside is refused: the world is closed",
  async (t) => {
    const layerOf = (release: { images: { blobs: { sha256: string }[] }[] }): string =>
      release.images[0]?.blobs.at(-1)?.sha256 ?? "";
    const forgetful = await makeSmallBundle(t.testdir(), (release) => {
      const lost = layerOf(release);
      release.blobs = release.blobs.filter((blob) => blob.sha256 !== lost);
      for (const image of release.images)
        image.blobs = image.blobs.filter((blob) => blob.sha256 !== lost);
    });
    // What the release does not name must not lie there either: only the missing reference is left to find.
    for (const name of readdirSync(join(forgetful.bundle, "blobs", "sha256")))
      if (!forgetful.release.blobs.some((blob) => blob.sha256 === name))
        rmSync(join(forgetful.bundle, "blobs", "sha256", name));
    await t.rejects(verifyBundle(forgetful.bundle, { publicKeyPem: forgetful.key.publicPem }), {
      code: "bundle_refused",
      file: "release.json",
      message:
        /resontech\/small@sha256:[0-9a-f]{64} refers to sha256:[0-9a-f]{64}, which is not inside/,
    });
  },
);

t.test("a signing key that others can read is refused", async (t) => {
  const { publicPem } = SigningKey.development(join(t.testdir(), "key.pem"));
  t.match(publicPem, /BEGIN PUBLIC KEY/);
  const loose = join(t.testdirName, "loose.pem");
  writeFileSync(loose, readFileSync(join(t.testdirName, "key.pem")), { mode: 0o644 });
  t.throws(() => SigningKey.read(loose), { message: /can be read by others/ });
});
