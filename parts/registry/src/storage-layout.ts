/** The registry engine's storage: https://github.com/distribution/distribution/blob/v3.1.2/registry/storage/paths.go */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";

/** @param storageDir the engine's `rootdirectory` */
export function registryPaths(storageDir: string) {
  const v2 = join(storageDir, "docker", "registry", "v2");
  const repositories = join(v2, "repositories");
  return {
    repositories,
    /** @param sha256 hex */
    blobFile: (sha256: string) => join(v2, "blobs", "sha256", sha256.slice(0, 2), sha256, "data"),
    repositoryDir: (repository: string) => join(repositories, repository),
  };
}

/** Blobs first, then the layers that the repository may serve, then the manifest, then its tag: a crash leaves no dangling reference. */
export function describeRepository(
  image: { digest: string; blobs: readonly { sha256: string }[] },
  tag: string,
  repository: string,
): void {
  const manifest = image.digest.slice("sha256:".length);
  for (const { sha256 } of image.blobs)
    if (sha256 !== manifest)
      pointTo(join(repository, "_layers", "sha256", sha256, "link"), `sha256:${sha256}`);
  pointTo(join(repository, "_manifests", "revisions", "sha256", manifest, "link"), image.digest);
  pointTo(
    join(repository, "_manifests", "tags", tag, "index", "sha256", manifest, "link"),
    image.digest,
  );
  pointTo(join(repository, "_manifests", "tags", tag, "current", "link"), image.digest);
}

function pointTo(file: string, digest: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === digest) return;
  mkdirSync(dirname(file), { recursive: true });
  const beside = `${file}.part`;
  const fd = openSync(beside, "w", 0o644);
  try {
    writeSync(fd, digest);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  renameSync(beside, file);
}
