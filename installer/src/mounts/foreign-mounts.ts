import { mountPoints } from "@resontech/frame/unmount-below";
import { dataFolders } from "@resontech/parts";
import { evaluateMounts, type Mounts } from "./evaluate-mounts.ts";

/** Somebody has mounted a file system below the root which is none of the appliance's folders: what is on it must not go with them. */
export class ForeignMountError extends Error {
  readonly code = "foreign_mount";
  readonly hint =
    "unmount it where nothing of it is needed here, or mount it elsewhere, and run the same command again";
}

/** @param entries what the install makes directly below its root */
export function readMounts(root: string, entries: readonly string[]): Mounts {
  return evaluateMounts(mountPoints(), root, entries, dataFolders());
}

/** @throws ForeignMountError */
export function requireNoForeignMount(root: string, entries: readonly string[]): void {
  const { foreign } = readMounts(root, entries);
  if (foreign.length > 0)
    throw new ForeignMountError(
      `a file system is mounted at ${foreign.join(", ")}, which the appliance did not make; nothing was touched`,
    );
}
