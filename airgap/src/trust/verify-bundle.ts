/**
 * Verifies a whole bundle folder before anything on the host changes: signatures first, then every byte of every file, then that nothing
 * is there that the release does not name, then the closed world (each reference of each image resolves inside).
 */
import { createPublicKey, verify } from "node:crypto";
import { createReadStream, lstatSync, readdirSync, readFileSync } from "node:fs";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import {
  DsseEnvelope,
  dssePreAuthEncoding,
  RELEASE_PREDICATE_TYPE,
  type ReleaseBlob,
  ReleaseManifest,
} from "@resontech/contracts/release-manifest";
import { Metadata, MetadataKind } from "@tufjs/models";
import { readable } from "@resontech/contracts/readable";
import { Value } from "typebox/value";
import { BUNDLE_FILES, type Medium, TUF_TARGETS } from "./bundle-files.ts";
import { findUnresolved } from "./closed-world.ts";
import { keyIdOf, rawPublicHex } from "./signing-key.ts";

/** The bundle is not what its maker signed. `file` is the one to look at, relative to the bundle. */
export class BundleRefusedError extends Error {
  readonly code = "bundle_refused";
  readonly file: string;

  constructor(file: string, why: string) {
    super(`${file}: ${why}`);
    this.file = file;
  }
}

const MAX_METADATA_BYTES = 16 * 1024 * 1024;

export type VerifiedBundle = {
  directory: string;
  release: ReleaseManifest;
  releaseSha256: string;
  bytes: number;
  /** Those that were read of this medium; the others lie in the store. */
  readBytes: number;
  /** The bytes that were verified, by their names in the bundle. */
  signed: Readonly<Record<"boot.sums" | "boot.sums.sig" | "release.json", Uint8Array>>;
};

export type VerifyOptions = {
  /** PEM of the pinned public key, had on another channel (install.sh embeds it). */
  publicKeyPem: string;
  /**
   * The appliance's own store of blobs (`…/blobs/sha256`), which takes verified blobs alone: what lies there is not read again, and this
   * medium need not carry it.
   */
  store?: string;
  /** Whether the medium itself is asked about: what it carries is read, though the store has it. @default false */
  isMediumAsked?: boolean;
  /** Bytes verified so far, of all. */
  onProgress?: (doneBytes: number, totalBytes: number) => void;
};

/** @throws BundleRefusedError naming the first file that is damaged, missing, unsigned or too many */
export async function verifyBundle(
  directory: string,
  options: VerifyOptions,
): Promise<VerifiedBundle> {
  const key = createPublicKey(options.publicKeyPem);
  const read = (name: string): Buffer => readSmall(directory, name);

  // First the metadata that names each small file by hash, so that the one which is damaged is the one that is named.
  verifyTuf(read, rawPublicHex(key), keyIdOf(key));
  const bootSums = read(BUNDLE_FILES.bootSums);
  const bootSumsSignature = read(BUNDLE_FILES.bootSumsSignature);
  if (!verify(null, bootSums, key, bootSumsSignature)) {
    throw new BundleRefusedError(
      BUNDLE_FILES.bootSums,
      "its signature in boot.sums.sig does not match the pinned key",
    );
  }
  const releaseBytes = read(BUNDLE_FILES.release);
  const release = openRelease(releaseBytes, options.publicKeyPem);
  const medium = parseJson(BUNDLE_FILES.medium, read(BUNDLE_FILES.medium)) as Medium;

  const isStored = (blob: ReleaseBlob): boolean => {
    if (options.store === undefined) return false;
    const entry = lstatSync(join(options.store, blob.sha256), { throwIfNoEntry: false });
    return entry?.isFile() === true && entry.size === blob.sizeBytes;
  };
  const expected = new Map(
    release.blobs.map((blob) => [`${BUNDLE_FILES.blobs}/${blob.sha256}`, blob]),
  );
  refuseStrangers(directory, new Set([...expected.keys(), ...Object.values(BUNDLE_FILES)]));
  const totalBytes = release.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0);
  let [doneBytes, readBytes] = [0, 0];
  const isCarried = (name: string): boolean =>
    options.isMediumAsked === true &&
    lstatSync(join(directory, name), { throwIfNoEntry: false }) !== undefined;
  for (const [name, blob] of expected) {
    if (medium.files[name]?.sha256 !== blob.sha256)
      throw new BundleRefusedError(
        BUNDLE_FILES.medium,
        `it does not list ${name} as the release does`,
      );
    if (isStored(blob) && !isCarried(name)) {
      doneBytes += blob.sizeBytes;
      options.onProgress?.(doneBytes, totalBytes);
      continue;
    }
    readBytes += blob.sizeBytes;
    const sizeBytes = statFile(directory, name).size;
    if (sizeBytes !== blob.sizeBytes)
      throw new BundleRefusedError(
        name,
        `it has ${sizeBytes} bytes, the release says ${blob.sizeBytes}`,
      );
    const found = await hashFile(join(directory, name), (bytes) => {
      doneBytes += bytes;
      options.onProgress?.(doneBytes, totalBytes);
    });
    if (found !== blob.sha256)
      throw new BundleRefusedError(
        name,
        `its SHA-256 is ${found}: the file is damaged or was changed`,
      );
  }
  verifyBootSums(bootSums, release, releaseBytes);
  const stored = new Set(release.blobs.filter(isStored).map((blob) => blob.sha256));
  const unresolved = findUnresolved(release, (sha256) =>
    options.store !== undefined && stored.has(sha256)
      ? readSmall(options.store, sha256)
      : readSmall(directory, `${BUNDLE_FILES.blobs}/${sha256}`),
  );
  if (unresolved[0] !== undefined)
    throw new BundleRefusedError(BUNDLE_FILES.release, unresolved[0]);
  return {
    ...{ directory, release, releaseSha256: sha256Of(releaseBytes) },
    ...{ bytes: totalBytes, readBytes },
    signed: {
      "boot.sums": bootSums,
      "boot.sums.sig": bootSumsSignature,
      "release.json": releaseBytes,
    },
  };
}

/**
 * The statements of a bundle, its `install.sh` among them, are those that this key signed. Blobs are not read.
 *
 * @throws BundleRefusedError
 */
export function verifyStatements(directory: string, publicKeyPem: string): void {
  const key = createPublicKey(publicKeyPem);
  verifyTuf((name) => readSmall(directory, name), rawPublicHex(key), keyIdOf(key));
}

/** Opens `release.json`: one good signature of the pinned key, then the schema. */
export function openRelease(bytes: Buffer, publicKeyPem: string): ReleaseManifest {
  const key = createPublicKey(publicKeyPem);
  const envelope = parseJson(BUNDLE_FILES.release, bytes);
  if (!Value.Check(readable(DsseEnvelope), envelope))
    throw new BundleRefusedError(BUNDLE_FILES.release, "it is no DSSE envelope");
  const payload = Buffer.from(envelope.payload, "base64");
  const covered = dssePreAuthEncoding(envelope.payloadType, payload);
  const id = keyIdOf(key);
  if (
    payload.toString("base64") !== envelope.payload ||
    !envelope.signatures.every(
      (s) => s.keyid === id && verify(null, covered, key, Buffer.from(s.sig, "base64")),
    )
  ) {
    throw new BundleRefusedError(
      BUNDLE_FILES.release,
      "its signature does not match the pinned key",
    );
  }
  const statement = parseJson(BUNDLE_FILES.release, payload);
  const predicate =
    typeof statement === "object" &&
    statement !== null &&
    "predicate" in statement &&
    "predicateType" in statement &&
    statement.predicateType === RELEASE_PREDICATE_TYPE
      ? statement.predicate
      : undefined;
  // The signature covers the bytes. What a newer release says beyond the schema is passed over, and handed on to be kept with the rest.
  const schema = readable(ReleaseManifest);
  if (!Value.Check(schema, predicate)) {
    const first = Value.Errors(schema, predicate)[0];
    throw new BundleRefusedError(
      BUNDLE_FILES.release,
      `${first?.instancePath ?? ""} ${first?.message ?? "is no release"}`,
    );
  }
  return predicate;
}

function verifyTuf(read: (name: string) => Buffer, publicHex: string, keyId: string): void {
  try {
    const [rootBytes, targetsBytes, snapshotBytes] = [
      read(BUNDLE_FILES.root),
      read(BUNDLE_FILES.targets),
      read(BUNDLE_FILES.snapshot),
    ];
    const root = within(BUNDLE_FILES.root, () => {
      const metadata = Metadata.fromJSON(MetadataKind.Root, JSON.parse(rootBytes.toString("utf8")));
      metadata.verifyDelegate("root", metadata);
      requireExact(rootBytes, metadata);
      if (metadata.signed.keys[keyId]?.keyVal.public !== publicHex)
        throw new Error("its key is not the pinned one");
      return metadata;
    });
    within(BUNDLE_FILES.snapshot, () => {
      const metadata = Metadata.fromJSON(
        MetadataKind.Snapshot,
        JSON.parse(snapshotBytes.toString("utf8")),
      );
      root.verifyDelegate("snapshot", metadata);
      requireExact(snapshotBytes, metadata);
      within(BUNDLE_FILES.targets, () =>
        metadata.signed.meta["offline-targets.json"]?.verify(targetsBytes),
      );
    });
    within(BUNDLE_FILES.targets, () => {
      const metadata = Metadata.fromJSON(
        MetadataKind.Targets,
        JSON.parse(targetsBytes.toString("utf8")),
      );
      root.verifyDelegate("targets", metadata);
      requireExact(targetsBytes, metadata);
      for (const name of TUF_TARGETS) {
        const bytes = read(name);
        const target = metadata.signed.targets[name];
        if (target === undefined) throw new Error(`it does not name ${name}`);
        if (target.length !== bytes.length || target.hashes["sha256"] !== sha256Of(bytes)) {
          throw new BundleRefusedError(
            name,
            "its SHA-256 is not the one that the signed targets name",
          );
        }
      }
    });
  } catch (error) {
    if (error instanceof BundleRefusedError) throw error;
    throw new BundleRefusedError(
      BUNDLE_FILES.root,
      error instanceof Error ? error.message : String(error),
    );
  }
}

/** Signatures cover canonical JSON; a bit flipped in what is not covered (an unknown field, white space) must show as well. */
function requireExact(bytes: Buffer, metadata: { toJSON(): unknown }): void {
  if (bytes.toString("utf8") !== JSON.stringify(metadata.toJSON()))
    throw new Error("it is not in the form that its maker writes");
}

function within<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof BundleRefusedError) throw error;
    throw new BundleRefusedError(file, error instanceof Error ? error.message : String(error));
  }
}

/** `boot.sums` is what the shell checked: it must say of Node, the installer and the release what the release says. */
function verifyBootSums(bootSums: Buffer, release: ReleaseManifest, releaseBytes: Buffer): void {
  const tree = new Map(release.tree.map((file) => [file.path, file.sha256]));
  tree.set(BUNDLE_FILES.release, sha256Of(releaseBytes));
  for (const line of bootSums.toString("utf8").trimEnd().split("\n")) {
    const found = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line);
    if (!found?.[2] || tree.get(found[2]) !== found[1])
      throw new BundleRefusedError(
        BUNDLE_FILES.bootSums,
        `the line ${JSON.stringify(line)} disagrees with the release`,
      );
  }
}

function refuseStrangers(directory: string, known: ReadonlySet<string>): void {
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" })) {
    const entry = lstatSync(join(directory, name));
    if (entry.isDirectory()) continue;
    if (!entry.isFile()) throw new BundleRefusedError(name, "it is neither a file nor a folder");
    if (!known.has(name)) throw new BundleRefusedError(name, "the release does not name it");
  }
}

function statFile(directory: string, name: string): { size: number } {
  try {
    const entry = lstatSync(join(directory, name));
    if (entry.isFile()) return { size: entry.size };
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
  }
  throw new BundleRefusedError(name, "it is missing from this medium");
}

function readSmall(directory: string, name: string): Buffer {
  const { size } = statFile(directory, name);
  if (size > MAX_METADATA_BYTES)
    throw new BundleRefusedError(
      name,
      `it has ${size} bytes, at most ${MAX_METADATA_BYTES} are read`,
    );
  return readFileSync(join(directory, name));
}

function parseJson(name: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    throw new BundleRefusedError(name, `it is no JSON: ${String(error)}`);
  }
}

async function hashFile(file: string, onBytes: (bytes: number) => void): Promise<string> {
  const hash = createHash("sha256");
  const stream = createReadStream(file, { highWaterMark: 1024 * 1024 });
  stream.on("data", (chunk) => onBytes(chunk.length));
  await pipeline(stream, hash);
  return hash.digest("hex");
}

function sha256Of(bytes: Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
