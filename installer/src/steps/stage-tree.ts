import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { syncNow } from "@resontech/daemon/durable-file-now";

/** A hard link into the store for each file of the release tree; the tree appears whole, by one rename. */
export function stageTree(
  release: ReleaseManifest,
  store: string,
  releaseDir: string,
  manifest: string,
): void {
  if (existsSync(releaseDir)) return;
  const beside = `${releaseDir}.part`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true, mode: 0o755 });
  for (const file of release.tree) {
    const target = join(beside, file.path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o755 });
    linkSync(join(store, file.sha256), target);
  }
  writeFileSync(join(beside, "release-manifest.json"), manifest, { mode: 0o644 });
  // The files themselves are links to synced blobs; what a power cut could take are the folders' entries.
  const folders = readdirSync(beside, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { parentPath, name } of folders) syncNow(join(parentPath, name));
  for (const path of [join(beside, "release-manifest.json"), beside]) syncNow(path);
  renameSync(beside, releaseDir);
  for (const folder of [dirname(releaseDir), dirname(dirname(releaseDir))]) syncNow(folder);
}
