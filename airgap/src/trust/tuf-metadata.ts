/** TUF metadata of an offline bundle (Uptane PURE-2 names), one key for now: https://theupdateframework.github.io/specification/v1.0.33/ */
import { createHash } from "node:crypto";
import {
  Key,
  Metadata,
  MetaFile,
  Root,
  Signature,
  Snapshot,
  TargetFile,
  Targets,
} from "@tufjs/models";
import { BUNDLE_FILES } from "./bundle-files.ts";
import type { SigningKey } from "./signing-key.ts";

const SPEC_VERSION = "1.0.33";
const ROLES = ["root", "targets", "snapshot", "timestamp"] as const;

/** Ten years for a root, as sealed sites keep theirs; judged against max(clock, last attested time) at upgrade. */
const YEARS = 10;

export type BundleTarget = { path: string; bytes: Buffer };

/** Bytes of root, targets and snapshot for the given files; `version` counts releases and never goes back. */
export function makeTufMetadata(
  key: SigningKey,
  version: number,
  epochS: number,
  files: readonly BundleTarget[],
): Record<string, Buffer> {
  const expires = new Date((epochS + YEARS * 365 * 86_400) * 1000)
    .toISOString()
    .replace(/\.\d+Z$/, "Z");
  const common = { version, specVersion: SPEC_VERSION, expires };
  const tufKey = new Key({
    keyID: key.keyId,
    keyType: "ed25519",
    scheme: "ed25519",
    keyVal: { public: key.publicHex },
  });
  const signer = (data: Buffer): Signature =>
    new Signature({ keyID: key.keyId, sig: key.sign(data).toString("hex") });
  const root = new Metadata(new Root({ ...common, version: 1, consistentSnapshot: false }));
  for (const role of ROLES) root.signed.addKey(tufKey, role);
  const targets = new Metadata(
    new Targets({
      ...common,
      targets: Object.fromEntries(
        files.map(({ path, bytes }) => [
          path,
          new TargetFile({ path, length: bytes.length, hashes: { sha256: sha256(bytes) } }),
        ]),
      ),
    }),
  );
  root.sign(signer);
  targets.sign(signer);
  const targetsBytes = Buffer.from(JSON.stringify(targets.toJSON()));
  const snapshot = new Metadata(
    new Snapshot({
      ...common,
      meta: {
        "offline-targets.json": new MetaFile({
          version,
          length: targetsBytes.length,
          hashes: { sha256: sha256(targetsBytes) },
        }),
      },
    }),
  );
  snapshot.sign(signer);
  return {
    [BUNDLE_FILES.root]: Buffer.from(JSON.stringify(root.toJSON())),
    [BUNDLE_FILES.targets]: targetsBytes,
    [BUNDLE_FILES.snapshot]: Buffer.from(JSON.stringify(snapshot.toJSON())),
  };
}

export function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
