/**
 * What one release is: the files of its tree, its images and every blob they need, each by SHA-256.
 *
 * A bundle folder (BUNDLE format) holds:
 * - `install.sh`, `boot.sums`, `boot.sums.sig` (Ed25519 over boot.sums; the public key is embedded in install.sh)
 * - `release.json`: a DSSE envelope around an in-toto statement whose predicate is {@link ReleaseManifest}
 * - `tuf/`: root, targets and snapshot metadata over release.json and the blobs
 * - `blobs/sha256/<hex>`: everything else, content-addressed; `media/<n>.json`: hashes of this medium's files
 *
 * A release tree (`<root>/releases/<version>-<digest12>/`) holds what `tree` lists:
 * `bin/node`, `lib/<sha256>`, `bin/appliance` (sh wrapper), `app/{coordinator,auditd,agent,appliance,installer,sov-verify}.mjs`, `app/sov-verify.html`, `app/node_modules/better-sqlite3/…`,
 * `app/runners/…`, `app/policies/…`, `engines/{nats-server,versitygw,registry,rt-init}`.
 */
import { type Static, Type } from "typebox";
import { ImageNeeds } from "../image/image-needs.ts";
import { closed } from "../closed.ts";

const Sha256 = Type.String({ pattern: "^[0-9a-f]{64}$" });
const Digest = Type.String({ pattern: "^sha256:[0-9a-f]{64}$" });
const Bytes = Type.Integer({ minimum: 0 });
/** Relative, no `..`, no empty or dot segment, no leading slash. */
const RelativePath = Type.String({
  maxLength: 1024,
  pattern: "^(?!.*(?:^|/)\\.{1,2}(?:/|$))[A-Za-z0-9@._+-]+(?:/[A-Za-z0-9@._+-]+)*$",
});

export const ReleaseFile = Type.Object(
  { path: RelativePath, sha256: Sha256, sizeBytes: Bytes, executable: Type.Boolean() },
  closed,
);
export type ReleaseFile = Static<typeof ReleaseFile>;

export const ReleaseBlob = Type.Object({ sha256: Sha256, sizeBytes: Bytes }, closed);
export type ReleaseBlob = Static<typeof ReleaseBlob>;

export const ReleaseImage = Type.Object(
  {
    /** Repository below the registry's host: `resontech/fl-cpu`, `resontech/keycloak`, `resontech/postgres`. */
    repository: Type.String({ maxLength: 255, pattern: "^[a-z0-9]+(?:[._/-][a-z0-9]+)*$" }),
    /** Digest of the OCI image manifest; its config and layers are in `blobs`. */
    digest: Digest,
    mediaType: Type.String({ maxLength: 128 }),
    manifestBytes: Bytes,
    /** Manifest, config and layers, each once. */
    blobs: Type.Array(ReleaseBlob),
    /** `engine`: run by the appliance itself; `job`: offered to jobs under `profile`. */
    use: Type.Union([Type.Literal("engine"), Type.Literal("job")]),
    profile: Type.Union([Type.String({ maxLength: 64 }), Type.Null()]),
    /** Python distributions inside, normalized name → version; empty for an engine. */
    packages: Type.Record(Type.String(), Type.String()),
    /** Top-level modules that its Python can import. */
    modules: Type.Optional(Type.Array(Type.String({ maxLength: 256 }))),
    pythonVersion: Type.Union([Type.String({ maxLength: 32 }), Type.Null()]),
    /** What it asks of a device; absent for an image that runs on processors. */
    needs: Type.Optional(ImageNeeds),
    /** Bytes of its layers once unpacked. Absent in older releases. */
    unpackedBytes: Type.Optional(Bytes),
  },
  closed,
);
export type ReleaseImage = Static<typeof ReleaseImage>;

export const ReleaseManifest = Type.Object(
  {
    formatVersion: Type.Literal(1),
    product: Type.Literal("resontech-appliance"),
    version: Type.String({ pattern: "^\\d+\\.\\d+\\.\\d+(?:-[0-9A-Za-z.-]+)?$" }),
    /** Seconds; the newest time stamp of any file inside. */
    sourceDateEpoch: Type.Integer({ minimum: 0 }),
    /** Ranges of versions that may be upgraded to this release, as `>=1.2.0 <2.0.0`, any of them; empty: fresh installs only. */
    upgradeFrom: Type.Array(Type.String({ maxLength: 128 })),
    /** Peak need of the install root's file system, data of jobs not included. */
    diskNeedBytes: Bytes,
    phases: Type.Array(Type.String({ maxLength: 64 })),
    /** What each real engine is: name → version, licence (SPDX), where it came from, and by which files of ours its source was changed. */
    engines: Type.Record(
      Type.String(),
      Type.Object(
        {
          ...{ version: Type.String(), licence: Type.String(), source: Type.String() },
          patches: Type.Optional(Type.Array(Type.String(), { minItems: 1 })),
        },
        closed,
      ),
    ),
    tree: Type.Array(ReleaseFile),
    images: Type.Array(ReleaseImage),
    /** Every blob of a full bundle, sorted, each once. */
    blobs: Type.Array(ReleaseBlob),
  },
  closed,
);
export type ReleaseManifest = Static<typeof ReleaseManifest>;

/** Where an in-toto consumer finds what the predicate means. */
export const RELEASE_PREDICATE_TYPE = "https://reson.tech/sovereign/release/v1";
export const DSSE_PAYLOAD_TYPE = "application/vnd.in-toto+json";

export const DsseEnvelope = Type.Object(
  {
    payloadType: Type.Literal(DSSE_PAYLOAD_TYPE),
    /** Base64 of the statement. */
    payload: Type.String(),
    /** `keyid` is the SHA-256 of the public key's SPKI (DER), hex. */
    signatures: Type.Array(Type.Object({ keyid: Sha256, sig: Type.String() }, closed), {
      minItems: 1,
      maxItems: 16,
    }),
  },
  closed,
);
export type DsseEnvelope = Static<typeof DsseEnvelope>;

/** Bytes that a DSSE signature covers (PAE): https://github.com/secure-systems-lab/dsse/blob/master/protocol.md */
export function dssePreAuthEncoding(payloadType: string, payload: Uint8Array): Uint8Array {
  const head = new TextEncoder().encode(
    `DSSEv1 ${new TextEncoder().encode(payloadType).length} ${payloadType} ${payload.length} `,
  );
  const out = new Uint8Array(head.length + payload.length);
  out.set(head);
  out.set(payload, head.length);
  return out;
}

/** Folder of programs for hosts that lack them; its file `location` has the path that they were made for. */
export const HOST_TOOLS = "tools";
/** Where the programs of {@link HOST_TOOLS} look for their loader and libraries: `<this>/<digest>`, a link to the folder of a release. */
export const HOST_TOOLS_HOME = "/run/resontech-tools";

/** The Node that everything runs on. */
export const RUNTIME = "bin/node";
/** Folder of the libraries that it brings along; the name of each is its own SHA-256, so that a medium's blob has it, too. */
export const RUNTIME_LIBRARIES = "lib";

/** Paths of the libraries that the runtime loads from the release. */
export function runtimeLibraries(tree: readonly ReleaseFile[]): string[] {
  return tree
    .filter(({ path, sha256 }) => path === `${RUNTIME_LIBRARIES}/${sha256}`)
    .map(({ path }) => path);
}

/** What `install.sh` needs before it may run anything, beside {@link runtimeLibraries}: the runtime, the installer and the release statement. */
export const BOOT_SUMS_PATHS = [RUNTIME, "app/installer.mjs", "release.json"] as const;

/** Replaced by the builder in install.sh: base64 of the PEM public key. */
export const INSTALL_KEY_PLACEHOLDER = "@BUNDLE_PUBLIC_KEY_PEM_BASE64@";

/** Checks signatures for install.sh on hosts without openssl 3. */
export const SIGNATURE_VERIFIER = "engines/rt-verify";
/** Replaced by the builder in install.sh: SHA-256 of {@link SIGNATURE_VERIFIER}, nothing where the release has none. */
export const INSTALL_VERIFIER_PLACEHOLDER = "@VERIFIER_SHA256@";
