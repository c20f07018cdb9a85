/** The files of one member, in bytes and in number limited to what it was given. */
import type { FoundFile } from "../decisions/own-files.ts";

/** What is staged: `job` is read at `/rt/job`, `model` at `/app/model`; `payload` is the job's own at `/app/payload`. */
export type StagedPart = "job" | "model" | "payload";

/** A regular file of the job, open for reading; `sizeBytes` is what it had when it was opened. Closed by whoever opened it. */
export interface JobFile extends Disposable {
  /** Of this process, also where the job's files lie elsewhere. */
  readonly fd: number;
  readonly sizeBytes: number;
}

export interface Area {
  /** Where this process writes what the member finds in its place. A member reads what it finds and changes `payload` alone. */
  path(part: StagedPart, ...rest: string[]): string;
  /** A file or folder below such a path, with all that is in it, becomes the job's user's. */
  giveToJob(path: string): Promise<void>;
  /** A place for a file of the agent's own: out of the job's sight, and on the member's account. */
  scratch(name: string): string;
  /** What is left of what the member was given. */
  freeBytes(): number;
  /** True when the member has used that up, in bytes or in files. False where there is no area. */
  readonly isFull: boolean;
  /**
   * A file by its path in the job's own world ({@link JOB_PATHS}). The job may have put anything there: null when there is no such file, when it
   * is no regular one of the member's own, or a link, or a link is on the way, and when it says to be larger than all the member was given.
   */
  open(path: string): Promise<JobFile | null>;
  /** Regular files beneath a folder of the ended job's world, relative to it, none by a link; of more than a limit the first. */
  list(folder: string): Promise<FoundFile[]>;
}
