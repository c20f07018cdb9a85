/** What fills a folder: by kind, and by each folder below. Pure. */
import { storageCost } from "@resontech/contracts/storage-cost";
import type { StoredVersion } from "./collectable.ts";

/** Folder of the bucket in which the appliance keeps what jobs print. */
const LOGS = "logs/";

type FolderSize = { sizeBytes: number; objects: number };

export class FolderSizes {
  readonly kinds = { objects: 0, olderVersions: 0, logs: 0 };
  readonly #prefix: string;
  readonly #folders = new Map<string, FolderSize>();

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  /** @param versions keys that begin with the prefix */
  add(versions: readonly StoredVersion[]): void {
    for (const { key, sizeBytes, isLatest, isMarker } of versions) {
      const bytes = storageCost(sizeBytes);
      const isCurrent = isLatest && !isMarker;
      this.kinds[kindOf(key, isCurrent)] += bytes;
      const end = key.indexOf("/", this.#prefix.length);
      if (end === -1) continue;
      const folder = key.slice(0, end + 1);
      const size = this.#folders.get(folder) ?? { sizeBytes: 0, objects: 0 };
      size.sizeBytes += bytes;
      if (isCurrent) size.objects += 1;
      this.#folders.set(folder, size);
    }
  }

  /** The largest first. */
  get folders(): (FolderSize & { key: string })[] {
    return [...this.#folders]
      .map(([key, size]) => ({ key, ...size }))
      .sort((a, b) => b.sizeBytes - a.sizeBytes || (a.key < b.key ? -1 : 1));
  }
}

function kindOf(key: string, isCurrent: boolean): keyof FolderSizes["kinds"] {
  if (key.startsWith(LOGS)) return "logs";
  return isCurrent ? "objects" : "olderVersions";
}
