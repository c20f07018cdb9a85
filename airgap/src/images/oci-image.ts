import { createHash } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ImageNeeds } from "@resontech/contracts/image-needs";
import type { ReleaseImage } from "@resontech/contracts/release-manifest";
import { LAYER_MEDIA_TYPE, type Layer } from "./layer.ts";

export type ImageDescription = {
  repository: string;
  use: ReleaseImage["use"];
  profile: string | null;
  /** What it asks of a device; null for an image that runs on processors. */
  needs?: ImageNeeds | null;
  packages: Record<string, string>;
  /** Top-level modules that its Python can import; absent for an engine. */
  modules?: string[];
  pythonVersion: string | null;
  config: { user: string; env: string[]; entrypoint: string[]; cmd: string[]; workingDir: string };
};

const MANIFEST_MEDIA_TYPE = "application/vnd.oci.image.manifest.v1+json";

/**
 * Writes an OCI image layout to `into` (`oci-layout`, `index.json`, `blobs/sha256/…`, layers by hard link) and, beside it,
 * `image.json`: the release's description of the image.
 */
export function writeImage(
  into: string,
  image: ImageDescription,
  layers: readonly Layer[],
  sourceDateEpoch: number,
): ReleaseImage {
  const blobs = join(into, "blobs", "sha256");
  mkdirSync(blobs, { recursive: true });
  const created = new Date(sourceDateEpoch * 1000).toISOString();
  const put = (value: unknown): { digest: string; size: number } => {
    const bytes = Buffer.from(JSON.stringify(value));
    const hex = createHash("sha256").update(bytes).digest("hex");
    writeFileSync(join(blobs, hex), bytes);
    return { digest: `sha256:${hex}`, size: bytes.length };
  };
  for (const layer of layers) {
    linkSync(layer.file, join(blobs, layer.digest.slice(7)));
  }
  const config = put({
    created,
    architecture: "amd64",
    os: "linux",
    config: {
      User: image.config.user,
      Env: image.config.env,
      Entrypoint: image.config.entrypoint,
      Cmd: image.config.cmd,
      WorkingDir: image.config.workingDir,
      Labels: { "org.opencontainers.image.title": image.repository },
    },
    rootfs: { type: "layers", diff_ids: layers.map((layer) => layer.diffId) },
    history: layers.map(() => ({ created, created_by: "airgap build" })),
  });
  const manifest = put({
    schemaVersion: 2,
    mediaType: MANIFEST_MEDIA_TYPE,
    config: { mediaType: "application/vnd.oci.image.config.v1+json", ...config },
    layers: layers.map((layer) => ({
      mediaType: LAYER_MEDIA_TYPE,
      digest: layer.digest,
      size: layer.sizeBytes,
    })),
  });
  writeFileSync(join(into, "oci-layout"), JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  writeFileSync(
    join(into, "index.json"),
    JSON.stringify({
      schemaVersion: 2,
      manifests: [
        {
          mediaType: MANIFEST_MEDIA_TYPE,
          ...manifest,
          annotations: { "org.opencontainers.image.ref.name": "latest" },
        },
      ],
    }),
  );
  const release: ReleaseImage = {
    repository: image.repository,
    digest: manifest.digest,
    mediaType: MANIFEST_MEDIA_TYPE,
    manifestBytes: manifest.size,
    blobs: [
      { sha256: manifest.digest.slice(7), sizeBytes: manifest.size },
      { sha256: config.digest.slice(7), sizeBytes: config.size },
      ...layers.map((layer) => ({ sha256: layer.digest.slice(7), sizeBytes: layer.sizeBytes })),
    ],
    use: image.use,
    profile: image.profile,
    packages: image.packages,
    ...(image.modules === undefined ? {} : { modules: image.modules }),
    pythonVersion: image.pythonVersion,
    ...(image.needs ? { needs: image.needs } : {}),
    unpackedBytes: layers.reduce((sum, layer) => sum + layer.unpackedBytes, 0),
  };
  writeFileSync(join(into, "image.json"), JSON.stringify(release));
  return release;
}

/** Python distributions of a layer, kept beside it: normalized name → version. */
export function keepPackages(folder: string, packages: Record<string, string>): void {
  writeFileSync(join(folder, "packages.json"), JSON.stringify(packages));
}

/** What {@link keepPackages} kept; nothing for a layer without Python packages. */
export function readPackages(folder: string): Record<string, string> {
  const file = join(folder, "packages.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Record<string, string>) : {};
}

/** Reads what {@link packLayer} left in a step's folder. */
export function readLayer(folder: string): Layer {
  const layer = JSON.parse(readFileSync(join(folder, "layer.json"), "utf8")) as Layer;
  return { ...layer, file: join(folder, layer.file) };
}

/** The release's description of the image that {@link writeImage} wrote there. */
export function readImage(layout: string): ReleaseImage {
  return JSON.parse(readFileSync(join(layout, "image.json"), "utf8")) as ReleaseImage;
}
