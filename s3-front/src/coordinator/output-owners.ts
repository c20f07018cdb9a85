import { platformFolderOf } from "../decisions/platform-folder.ts";
import type { Directory } from "./directory.ts";

/** `own`: the platform's, whatever job it is of; `job` and whether that has ended, where one is known. */
export type OutputOwner = { isPlatforms: boolean; job: string | null; isOver: boolean };

/** Whose folders keys lie in, for one request: each folder is asked for once. */
export class OutputOwners {
  readonly #directory: Directory;
  readonly #bucket: string;
  readonly #asked = new Map<string, Promise<{ job: string | null; isOver: boolean }>>();

  constructor(directory: Directory, bucket: string) {
    this.#directory = directory;
    this.#bucket = bucket;
  }

  /** @throws CoordinatorUnavailable */
  async of(key: string): Promise<OutputOwner> {
    const folder = platformFolderOf(key);
    if (folder === null) return { isPlatforms: false, job: null, isOver: true };
    const found = await Promise.all(
      (folder.kind === "own" ? [folder.folder] : folder.folders).map((one) => this.#jobsOf(one)),
    );
    const jobs = found.filter(({ job }) => job !== null);
    return {
      isPlatforms: folder.kind === "own" || jobs.length > 0,
      job: jobs[0]?.job ?? null,
      isOver: jobs.every(({ isOver }) => isOver),
    };
  }

  #jobsOf(folder: string): Promise<{ job: string | null; isOver: boolean }> {
    const asked = this.#asked.get(folder) ?? this.#directory.outputs(this.#bucket, folder);
    this.#asked.set(folder, asked);
    return asked;
  }
}
