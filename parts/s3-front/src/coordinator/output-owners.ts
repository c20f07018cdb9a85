import { platformFolderOf } from "../decisions/platform-folder.ts";
import type { Directory } from "./directory.ts";

export type OutputOwner = {
  /** Whether it is the platform's, whatever job it is of. */
  isPlatforms: boolean;
  /** Whether the platform alone writes there, perhaps for a job that is yet to come. */
  isReserved: boolean;
  job: string | null;
  /** Whether all jobs that are known of it have ended. */
  isOver: boolean;
};

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
    if (folder === null) return { isPlatforms: false, isReserved: false, job: null, isOver: true };
    const found = await Promise.all(
      (folder.kind === "own" ? [folder.folder] : folder.folders).map((one) => this.#jobsOf(one)),
    );
    const jobs = found.filter(({ job }) => job !== null);
    const isPlatforms = folder.kind === "own" || jobs.length > 0;
    return {
      isPlatforms,
      isReserved: isPlatforms || (folder.kind === "perhaps" && folder.isReserved),
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
