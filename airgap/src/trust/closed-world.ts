import type { ReleaseManifest } from "@resontech/contracts/release-manifest";

/**
 * Every reference of every manifest must resolve inside the release, by digest and size. Answers a sentence for each that does not.
 * @param readBlob reads a small blob (an image manifest) that the release lists
 */
export function findUnresolved(
  release: ReleaseManifest,
  readBlob: (sha256: string) => Buffer,
): string[] {
  const sizes = new Map(release.blobs.map((blob) => [blob.sha256, blob.sizeBytes]));
  const problems: string[] = [];
  for (const file of release.tree) {
    if (sizes.get(file.sha256) !== file.sizeBytes)
      problems.push(`the tree's ${file.path} (${file.sha256}) is not among the blobs`);
  }
  for (const image of release.images) {
    const name = `${image.repository}@${image.digest}`;
    for (const blob of image.blobs) {
      if (sizes.get(blob.sha256) !== blob.sizeBytes)
        problems.push(`${name} needs the blob ${blob.sha256}, which is not inside`);
    }
    const sha256 = image.digest.slice("sha256:".length);
    if (!sizes.has(sha256)) {
      problems.push(`${name} has no manifest inside`);
      continue;
    }
    for (const reference of references(JSON.parse(readBlob(sha256).toString("utf8")))) {
      if (sizes.get(reference.digest.replace("sha256:", "")) !== reference.size)
        problems.push(`${name} refers to ${reference.digest}, which is not inside`);
    }
  }
  return problems;
}

function references(manifest: unknown): { digest: string; size: number }[] {
  const found: { digest: string; size: number }[] = [];
  const visit = (value: unknown): void => {
    if (typeof value !== "object" || value === null) return;
    if (
      "digest" in value &&
      "size" in value &&
      typeof value.digest === "string" &&
      typeof value.size === "number"
    ) {
      found.push({ digest: value.digest, size: value.size });
    }
    for (const part of Object.values(value)) visit(part);
  };
  visit(manifest);
  return found;
}
