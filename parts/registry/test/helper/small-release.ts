import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { ReleaseImage, ReleaseManifest } from "@resontech/contracts/release-manifest";

/** An empty tar archive: a layer that every client accepts. */
const EMPTY_TAR = Buffer.alloc(1024);

/** Writes blobs of one small image per name into `store` and answers their release. */
export function makeRelease(
  store: string,
  version: string,
  names: readonly string[],
): ReleaseManifest {
  mkdirSync(store, { recursive: true });
  const images = names.map((name) => writeImage(store, `resontech/${name}`));
  return {
    formatVersion: 1,
    product: "resontech-appliance",
    version,
    sourceDateEpoch: 0,
    upgradeFrom: [],
    diskNeedBytes: 0,
    phases: [],
    engines: {},
    tree: [],
    images,
    blobs: images.flatMap((image) => image.blobs),
  };
}

function writeImage(store: string, repository: string): ReleaseImage {
  const put = (bytes: Buffer): { digest: string; size: number } => {
    const sha256 = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(store, sha256), bytes, { mode: 0o644 });
    return { digest: `sha256:${sha256}`, size: bytes.length };
  };
  const layer = put(gzipSync(EMPTY_TAR));
  const config = put(
    Buffer.from(
      JSON.stringify({
        architecture: "amd64",
        os: "linux",
        config: { Labels: { only: randomBytes(8).toString("hex") } },
        rootfs: {
          type: "layers",
          diff_ids: [`sha256:${createHash("sha256").update(EMPTY_TAR).digest("hex")}`],
        },
      }),
    ),
  );
  const mediaType = "application/vnd.oci.image.manifest.v1+json";
  const manifest = put(
    Buffer.from(
      JSON.stringify({
        schemaVersion: 2,
        mediaType,
        config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
        layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", ...layer }],
      }),
    ),
  );
  return {
    repository,
    digest: manifest.digest,
    mediaType,
    manifestBytes: manifest.size,
    blobs: [manifest, config, layer].map(({ digest, size }) => ({
      sha256: digest.slice(7),
      sizeBytes: size,
    })),
    use: "job",
    profile: null,
    packages: {},
    pythonVersion: null,
  };
}
