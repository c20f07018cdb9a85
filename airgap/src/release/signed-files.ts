/** The signed files of a bundle, which are everything in it but the blobs. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  BOOT_SUMS_PATHS,
  DSSE_PAYLOAD_TYPE,
  type DsseEnvelope,
  dssePreAuthEncoding,
  INSTALL_KEY_PLACEHOLDER,
  INSTALL_VERIFIER_PLACEHOLDER,
  RELEASE_PREDICATE_TYPE,
  type ReleaseManifest,
  runtimeLibraries,
  SIGNATURE_VERIFIER,
} from "@resontech/contracts/release-manifest";
import { BUNDLE_FILES, type Medium, TUF_TARGETS } from "../trust/bundle-files.ts";
import type { SigningKey } from "../trust/signing-key.ts";
import { makeTufMetadata, sha256 } from "../trust/tuf-metadata.ts";
import { SourceMissingError } from "../engines/source-missing-error.ts";

const INSTALL_SCRIPT = join(import.meta.dirname, "..", "..", "..", "install.sh");

/** Path in the bundle → bytes. The same release, number and key give the same bytes. */
export function signedFiles(
  release: ReleaseManifest,
  releaseNumber: number,
  key: SigningKey,
): Record<string, Buffer> {
  const releaseBytes = signRelease(release, key);
  const bootSums = Buffer.from(listBootSums(release, releaseBytes));
  const files: Record<(typeof TUF_TARGETS)[number], Buffer> = {
    [BUNDLE_FILES.install]: installScript(release, key),
    [BUNDLE_FILES.release]: releaseBytes,
    [BUNDLE_FILES.bootSums]: bootSums,
    [BUNDLE_FILES.bootSumsSignature]: key.sign(bootSums),
    [BUNDLE_FILES.medium]: Buffer.from(JSON.stringify(describeMedium(release))),
  };
  const targets = TUF_TARGETS.map((path) => ({ path, bytes: files[path] }));
  return { ...files, ...makeTufMetadata(key, releaseNumber, release.sourceDateEpoch, targets) };
}

function signRelease(release: ReleaseManifest, key: SigningKey): Buffer {
  const statement = {
    _type: "https://in-toto.io/Statement/v1",
    subject: release.blobs.map((blob) => ({
      name: `${BUNDLE_FILES.blobs}/${blob.sha256}`,
      digest: { sha256: blob.sha256 },
    })),
    predicateType: RELEASE_PREDICATE_TYPE,
    predicate: release,
  };
  const payload = Buffer.from(JSON.stringify(statement));
  const envelope: DsseEnvelope = {
    payloadType: DSSE_PAYLOAD_TYPE,
    payload: payload.toString("base64"),
    signatures: [
      {
        keyid: key.keyId,
        sig: key.sign(dssePreAuthEncoding(DSSE_PAYLOAD_TYPE, payload)).toString("base64"),
      },
    ],
  };
  return Buffer.from(JSON.stringify(envelope));
}

function listBootSums(release: ReleaseManifest, releaseBytes: Buffer): string {
  const shaOf = new Map(release.tree.map((file) => [file.path, file.sha256]));
  shaOf.set(BUNDLE_FILES.release, sha256(releaseBytes));
  return [...runtimeLibraries(release.tree), ...BOOT_SUMS_PATHS]
    .map((path) => {
      const sum = shaOf.get(path);
      if (sum === undefined)
        throw new Error(`the release tree has no ${path}, which install.sh needs`);
      return `${sum}  ${path}\n`;
    })
    .join("");
}

function describeMedium(release: ReleaseManifest): Medium {
  const files = release.blobs.map(({ sha256: digest, sizeBytes }) => [
    `${BUNDLE_FILES.blobs}/${digest}`,
    { sha256: digest, sizeBytes },
  ]);
  return {
    formatVersion: 1,
    medium: 1,
    of: 1,
    files: Object.fromEntries(files) as Medium["files"],
  };
}

function installScript(release: ReleaseManifest, key: SigningKey): Buffer {
  let script: string;
  try {
    script = readFileSync(INSTALL_SCRIPT, "utf8");
  } catch (error) {
    throw new SourceMissingError(BUNDLE_FILES.install, "install.sh", { cause: error });
  }
  const verifier = release.tree.find(({ path }) => path === SIGNATURE_VERIFIER);
  const values = {
    [INSTALL_KEY_PLACEHOLDER]: Buffer.from(key.publicPem).toString("base64"),
    [INSTALL_VERIFIER_PLACEHOLDER]: verifier?.sha256 ?? "",
  };
  for (const [placeholder, value] of Object.entries(values)) {
    if (!script.includes(placeholder)) throw new Error(`install.sh has no ${placeholder}`);
    script = script.replaceAll(placeholder, value);
  }
  return Buffer.from(script);
}
