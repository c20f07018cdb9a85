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
import { SIGNED_FOLDER, type SIGNED_FILES } from "@resontech/contracts/node-files";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { syncNow } from "@resontech/frame/durable-file-now";

/**
 * A hard link into the store for each file of the release tree; the tree appears whole, by one rename.
 *
 * @param signed the statements that a node verifies the release by, by their names
 */
export function stageTree(
  release: ReleaseManifest,
  store: string,
  releaseDir: string,
  signed: Readonly<Record<(typeof SIGNED_FILES)[number], string | Uint8Array>>,
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
  mkdirSync(join(beside, SIGNED_FOLDER), { mode: 0o755 });
  const whole = [
    ...Object.entries(signed).map(([name, bytes]) => [join(SIGNED_FOLDER, name), bytes] as const),
    ["release-manifest.json", JSON.stringify(release)] as const,
  ];
  for (const [name, bytes] of whole) writeFileSync(join(beside, name), bytes, { mode: 0o644 });
  // The files themselves are links to synced blobs; what a power cut could take are the folders' entries.
  const folders = readdirSync(beside, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isDirectory(),
  );
  for (const { parentPath, name } of folders) syncNow(join(parentPath, name));
  for (const [name] of whole) syncNow(join(beside, name));
  syncNow(beside);
  renameSync(beside, releaseDir);
  for (const folder of [dirname(releaseDir), dirname(dirname(releaseDir))]) syncNow(folder);
}
