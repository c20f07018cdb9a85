import {
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { BUNDLE_FILES } from "../trust/bundle-files.ts";
import type { TreeSource } from "../engines/tree-source.ts";

/**
 * Writes the bundle beside `out` and renames it there, so that a folder of that name is always whole. Blobs are copies, by reference where
 * the file system can: a medium that is damaged later must not damage the cache it came from.
 */
export function writeBundle(
  out: string,
  files: Readonly<Record<string, Buffer>>,
  blobs: ReadonlyMap<string, TreeSource>,
): void {
  const beside = `${out}.part`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(join(beside, BUNDLE_FILES.blobs), { recursive: true });
  for (const [sha256, { file, executable }] of blobs) {
    const target = join(beside, BUNDLE_FILES.blobs, sha256);
    copyFileSync(file, target, constants.COPYFILE_FICLONE);
    chmodSync(target, executable ? 0o755 : 0o644);
  }
  for (const [name, bytes] of Object.entries(files)) {
    mkdirSync(dirname(join(beside, name)), { recursive: true });
    writeFileSync(join(beside, name), bytes, {
      mode: name === BUNDLE_FILES.install ? 0o755 : 0o644,
    });
  }
  rmSync(out, { recursive: true, force: true });
  renameSync(beside, out);
}

/** Whether `out` has exactly these signed files; its blobs are for the verifier to judge. */
export function hasSignedFiles(out: string, files: Readonly<Record<string, Buffer>>): boolean {
  return Object.entries(files).every(
    ([name, bytes]) => existsSync(join(out, name)) && bytes.equals(readFileSync(join(out, name))),
  );
}
