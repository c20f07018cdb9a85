/** Images in one file: what is read of one, and what is refused. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync, zstdCompressSync } from "node:zlib";
import { json } from "node:stream/consumers";
import t from "tap";
import { writeImageLayout } from "@resontech/house/image-layout";
import { ImageArchive } from "../../src/images/image-archive.ts";

const INVALID = { code: "image_invalid" };
const dir = t.testdir({ root: { srv: { program: "#!/bin/sh\n" } } });
const layout = join(dir, "layout");
const digest = await writeImageLayout(join(dir, "root"), layout, {
  ...{ Entrypoint: ["/srv/program"], Cmd: ["--all"], WorkingDir: "/srv" },
  Env: ["PATH=/srv:/usr/bin", "EMPTY=", "EQUALS=a=b"],
});
const archiveOf = (from: string, ...options: string[]): string => {
  const file = `${from}.tar`;
  execFileSync("tar", ["--create", "--file", file, ...options, "--directory", from, "."]);
  return file;
};
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const TYPE = "application/vnd.oci.image";

type Documents = {
  index: { manifests: Record<string, unknown>[] };
  manifest: { layers: Record<string, unknown>[]; config: Record<string, unknown> };
  config: Record<string, unknown>;
  layer: Buffer;
};

let copies = 0;
/** The same image with other documents; digests are made to fit. */
function changed(change: (documents: Documents) => void): string {
  const copy = join(dir, `copy-${(copies += 1)}`);
  cpSync(layout, copy, { recursive: true });
  const blob = (hex: string) => readFileSync(join(copy, "blobs", "sha256", hex));
  const read = (bytes: Buffer): unknown => JSON.parse(bytes.toString());
  const index = read(readFileSync(join(copy, "index.json"))) as Documents["index"];
  const manifest = read(blob(digest.slice(7))) as Documents["manifest"];
  const hexOf = (one: Record<string, unknown>) => String(one["digest"]).slice(7);
  const config = read(blob(hexOf(manifest.config))) as Documents["config"];
  const documents = { index, manifest, config, layer: blob(hexOf(manifest.layers[0]!)) };
  change(documents);
  const put = (bytes: Buffer) => {
    writeFileSync(join(copy, "blobs", "sha256", sha256(bytes)), bytes);
    return { digest: `sha256:${sha256(bytes)}`, size: bytes.length };
  };
  Object.assign(manifest.layers[0]!, put(documents.layer));
  Object.assign(manifest.config, put(Buffer.from(JSON.stringify(config))));
  Object.assign(index.manifests[0]!, put(Buffer.from(JSON.stringify(manifest))));
  writeFileSync(join(copy, "index.json"), JSON.stringify(index));
  return archiveOf(copy);
}
const checked = async (file: string) => {
  using archive = new ImageArchive(file);
  await archive.check();
  return archive;
};

t.test("an archive of each form of tar has its digest, its program and its blobs", async (t) => {
  for (const format of ["ustar", "gnu", "posix"]) {
    const archive = await checked(archiveOf(layout, `--format=${format}`));
    t.equal(archive.digest, digest, format);
    t.same(archive.program, {
      ...{ command: ["/srv/program", "--all"], directory: "/srv" },
      environment: { PATH: "/srv:/usr/bin", EMPTY: "", EQUALS: "a=b" },
    });
    t.equal(archive.blobs.length, 3);
  }
  using archive = new ImageArchive(archiveOf(layout));
  const manifest = archive.blobs.find((blob) => `sha256:${blob.sha256}` === digest)!;
  t.match(await json(archive.open(manifest)), { schemaVersion: 2 });
});

t.test("layers may be packed, and an index may lead to the one for this machine", async (t) => {
  const packed = (type: string, pack: (bytes: Buffer) => Buffer) =>
    changed((documents) => {
      documents.layer = pack(documents.layer);
      documents.manifest.layers[0]!["mediaType"] = `${TYPE}.layer.v1.tar+${type}`;
    });
  t.ok(await checked(packed("gzip", gzipSync)));
  t.ok(await checked(packed("zstd", zstdCompressSync)));
  const several = changed(({ index }) => {
    const platform = { os: "linux", architecture: process.arch === "x64" ? "amd64" : "arm64" };
    const other = { ...index.manifests[0], platform: { os: "linux", architecture: "riscv64" } };
    index.manifests[0]!["platform"] = platform;
    index.manifests.push(other);
  });
  t.ok(await checked(several));
});

t.test("what is another image than it says is refused", async (t) => {
  const lies: [string, (documents: Documents) => void, RegExp][] = [
    ["another layer", (d) => (d.layer = Buffer.concat([d.layer, d.layer])), /does not name/],
    [
      "no gzip",
      ({ manifest }) => (manifest.layers[0]!["mediaType"] = `${TYPE}.layer.v1.tar+gzip`),
      /can't be unpacked/,
    ],
    [
      "a layer from elsewhere",
      ({ manifest }) =>
        (manifest.layers[0]!["mediaType"] = `${TYPE}.layer.nondistributable.v1.tar`),
      /a layer is/,
    ],
    ["another machine", ({ config }) => (config["architecture"] = "s390x"), /linux\/s390x/],
    ["another system", ({ config }) => (config["os"] = "windows"), /windows/],
    [
      "no layers",
      ({ config }) => Object.assign(config["rootfs"]!, { diff_ids: [] }),
      /other layers/,
    ],
    ["two images", ({ index }) => index.manifests.push({ ...index.manifests[0] }), /2 images/],
    [
      "an environment that can't be",
      ({ config }) => (config["config"] = { Env: ["A B=1"] }),
      /environment/,
    ],
    [
      "a folder that is none",
      ({ config }) => (config["config"] = { WorkingDir: "../.." }),
      /folder/,
    ],
    [
      "too much",
      ({ config }) => (config["config"] = { Cmd: ["x".repeat(5_000)] }),
      /configuration/,
    ],
  ];
  for (const [name, change, message] of lies)
    await t.rejects(checked(changed(change)), { ...INVALID, message }, name);
});

t.test("bytes that are others than their digest are refused", async (t) => {
  for (const which of readdirSync(join(layout, "blobs", "sha256"))) {
    const copy = join(dir, `flipped-${which.slice(0, 8)}`);
    cpSync(layout, copy, { recursive: true });
    const file = join(copy, "blobs", "sha256", which);
    const bytes = readFileSync(file);
    bytes[bytes.length >> 1]! ^= 1;
    writeFileSync(file, bytes);
    await t.rejects(checked(archiveOf(copy)), INVALID, which);
  }
});

t.test("an archive that is none, is cut, or leads elsewhere is refused", async (t) => {
  const made = (name: string, bytes: string | Buffer) => {
    writeFileSync(join(dir, name), bytes);
    return join(dir, name);
  };
  const whole = readFileSync(archiveOf(layout));
  for (const [name, file] of [
    ["text", made("text.tar", "no archive at all")],
    ["empty", made("empty.tar", "")],
    ["zeros", made("zeros.tar", Buffer.alloc(10_240))],
    ["cut", made("cut.tar", whole.subarray(0, whole.length >> 1))],
    ["folder", dir],
  ] as const)
    await t.rejects(checked(file), INVALID, name);
  const odd = join(dir, "odd");
  cpSync(layout, odd, { recursive: true });
  execFileSync("ln", ["-s", "/etc/passwd", join(odd, "link")]);
  await t.rejects(checked(archiveOf(odd)), { ...INVALID, message: /is no file/ }, "a link");
  const outside = join(dir, "outside");
  mkdirSync(outside);
  cpSync(layout, outside, { recursive: true });
  // A name that would lead out is a key that nobody asks for.
  const file = archiveOf(
    outside,
    "--transform=s,^./oci-layout$,../../oci-layout,",
    "--absolute-names",
  );
  await t.rejects(checked(file), { ...INVALID, message: /no oci-layout/ });
  const twice = archiveOf(layout);
  execFileSync("tar", ["--append", "--file", twice, "--directory", layout, "./index.json"]);
  await t.rejects(checked(twice), { ...INVALID, message: /twice/ });
});
