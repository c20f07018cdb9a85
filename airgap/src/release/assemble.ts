/** From engines, images and compiled apps to one signed bundle folder in BUNDLE's format. */
import { createHash } from "node:crypto";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
  BOOT_SUMS_PATHS,
  DSSE_PAYLOAD_TYPE,
  type DsseEnvelope,
  dssePreAuthEncoding,
  INSTALL_KEY_PLACEHOLDER,
  RELEASE_PREDICATE_TYPE,
  type ReleaseBlob,
  type ReleaseFile,
  type ReleaseImage,
  type ReleaseManifest,
} from "@resontech/contracts/release-manifest";
import type { LockFile } from "../lock/lock-file.ts";
import { BUNDLE_FILES, type Medium } from "../trust/bundle-files.ts";
import type { SigningKey } from "../trust/signing-key.ts";
import { makeTufMetadata, sha256 } from "../trust/tuf-metadata.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** A file of the release tree: where it lies now, where it goes. */
export type TreeSource = { path: string; file: string; executable: boolean };

export type Ingredients = {
  lock: LockFile;
  tree: readonly TreeSource[];
  imageLayouts: readonly string[];
  phases: readonly string[];
};

/** Digests of big, immutable cache files, kept beside them: hashing gigabytes again would be most of a second build. */
export class DigestCache {
  readonly #file: string;
  readonly #known: Record<string, string>;
  #dirty = false;

  constructor(file: string) {
    this.#file = file;
    this.#known = existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>) : {};
  }

  sha256(file: string): string {
    const { size, mtimeNs, ino } = statSync(file, { bigint: true });
    const key = `${file}:${size}:${mtimeNs}:${ino}`;
    const known = this.#known[key];
    if (known !== undefined) return known;
    const digest = createHash("sha256").update(readFileSync(file)).digest("hex");
    this.#known[key] = digest;
    this.#dirty = true;
    return digest;
  }

  save(): void {
    if (!this.#dirty) return;
    writeFileSync(`${this.#file}.part`, JSON.stringify(this.#known));
    renameSync(`${this.#file}.part`, this.#file);
  }
}

/** Writes the bundle to `out` (made beside and renamed, so that a folder of that name is always whole) and answers its release. */
export function assembleBundle(
  out: string,
  ingredients: Ingredients,
  key: SigningKey,
  digests: DigestCache,
): { release: ReleaseManifest; releaseSha256: string } {
  const { lock } = ingredients;
  const blobs = new Map<string, { file: string; executable: boolean }>();
  const tree: ReleaseFile[] = [];
  for (const source of [...ingredients.tree].sort((a, b) => (a.path < b.path ? -1 : 1))) {
    const digest = digests.sha256(source.file);
    blobs.set(digest, { file: source.file, executable: source.executable });
    tree.push({ path: source.path, sha256: digest, sizeBytes: statSync(source.file).size, executable: source.executable });
  }
  const images: ReleaseImage[] = [];
  for (const layout of ingredients.imageLayouts) {
    const image = JSON.parse(readFileSync(join(layout, "image.json"), "utf8")) as ReleaseImage;
    images.push(image);
    for (const blob of image.blobs)
      blobs.set(blob.sha256, { file: join(layout, "blobs", "sha256", blob.sha256), executable: false });
  }
  const listed: ReleaseBlob[] = [...blobs]
    .map(([digest, { file }]) => ({ sha256: digest, sizeBytes: statSync(file).size }))
    .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  const bytes = listed.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  const release: ReleaseManifest = {
    formatVersion: 1,
    product: "resontech-appliance",
    version: lock.version,
    sourceDateEpoch: lock.sourceDateEpoch,
    upgradeFrom: [],
    // The store itself, the release tree by hard link, and a margin for logs and first data.
    diskNeedBytes: Math.ceil(bytes * 1.05) + 2 * 1024 ** 3,
    phases: [...ingredients.phases],
    engines: enginesOf(lock),
    tree,
    images,
    blobs: listed,
  };
  const beside = `${out}.part`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(join(beside, BUNDLE_FILES.blobs), { recursive: true });
  for (const [digest, { file, executable }] of blobs) placeBlob(file, join(beside, BUNDLE_FILES.blobs, digest), executable);
  const releaseBytes = signRelease(release, key);
  writeBundleFiles(beside, release, releaseBytes, key);
  rmSync(out, { recursive: true, force: true });
  renameSync(beside, out);
  return { release, releaseSha256: sha256(releaseBytes) };
}

function enginesOf(lock: LockFile): ReleaseManifest["engines"] {
  const engines: ReleaseManifest["engines"] = {};
  for (const [name, pin] of Object.entries(lock.go))
    engines[name] = { version: pin.version, licence: pin.licence, source: `go:${pin.module}` };
  for (const [name, pin] of Object.entries(lock.npm))
    engines[name] = { version: pin.version, licence: pin.licence, source: `npm:${pin.package}` };
  for (const [name, pin] of Object.entries(lock.maven))
    engines[name] = { version: pin.version, licence: pin.licence, source: `maven:${pin.coordinates}` };
  return engines;
}

/** By hard link where the cache is on the same file system; a copy where it is not, or where the mode must differ. */
function placeBlob(file: string, target: string, executable: boolean): void {
  const sameMode = ((statSync(file).mode & 0o111) !== 0) === executable;
  if (sameMode) {
    try {
      linkSync(file, target);
      return;
    } catch (error) {
      if (!(error instanceof Error && "code" in error && (error.code === "EXDEV" || error.code === "EMLINK"))) throw error;
    }
  }
  copyFileSync(file, target);
  chmodSync(target, executable ? 0o755 : 0o644);
}

function signRelease(release: ReleaseManifest, key: SigningKey): Buffer {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: release.blobs.map((blob) => ({ name: `blobs/sha256/${blob.sha256}`, digest: { sha256: blob.sha256 } })),
    predicateType: RELEASE_PREDICATE_TYPE,
    predicate: release,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const envelope: DsseEnvelope = {
    payloadType: DSSE_PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [{ keyid: key.keyId, sig: key.sign(dssePreAuthEncoding(DSSE_PAYLOAD_TYPE, payload)).toString("base64") }],
  };
  return Buffer.from(JSON.stringify(envelope));
}

function writeBundleFiles(bundle: string, release: ReleaseManifest, releaseBytes: Buffer, key: SigningKey): void {
  const put = (name: string, bytes: Buffer | string, mode = 0o644): void => {
    mkdirSync(dirname(join(bundle, name)), { recursive: true });
    writeFileSync(join(bundle, name), bytes, { mode });
  };
  const shaOf = new Map(release.tree.map((file) => [file.path, file.sha256]));
  shaOf.set(BUNDLE_FILES.release, sha256(releaseBytes));
  const bootSums = Buffer.from(BOOT_SUMS_PATHS.map((path) => `${shaOf.get(path) ?? missing(path)}  ${path}\n`).join(""));
  const medium: Medium = {
    formatVersion: 1,
    medium: 1,
    of: 1,
    files: Object.fromEntries(
      release.blobs.map((blob) => [`${BUNDLE_FILES.blobs}/${blob.sha256}`, { sha256: blob.sha256, sizeBytes: blob.sizeBytes }]),
    ),
  };
  const files = {
    [BUNDLE_FILES.release]: releaseBytes,
    [BUNDLE_FILES.bootSums]: bootSums,
    [BUNDLE_FILES.bootSumsSignature]: key.sign(bootSums),
    [BUNDLE_FILES.medium]: Buffer.from(JSON.stringify(medium)),
  };
  for (const [name, bytes] of Object.entries(files)) put(name, bytes);
  const targets = Object.entries(files).map(([path, bytes]) => ({ path, bytes }));
  for (const [name, bytes] of Object.entries(makeTufMetadata(key, 1, release.sourceDateEpoch, targets))) put(name, bytes);
  const script = readFileSync(join(repository, "installer", "install.sh"), "utf8");
  if (!script.includes(INSTALL_KEY_PLACEHOLDER)) throw new Error(`installer/install.sh has no ${INSTALL_KEY_PLACEHOLDER}`);
  put(BUNDLE_FILES.install, script.replaceAll(INSTALL_KEY_PLACEHOLDER, Buffer.from(key.publicPem).toString("base64")), 0o755);
}

function missing(path: string): never {
  throw new Error(`the release tree has no ${path}, which install.sh needs`);
}

/** Every file below a folder as a part of the tree. */
export function treeOf(folder: string): TreeSource[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((path) => ({ path, file: join(folder, path) }))
    .filter(({ file }) => statSync(file).isFile())
    .map((entry) => ({ ...entry, executable: (statSync(entry.file).mode & 0o111) !== 0 }));
}
