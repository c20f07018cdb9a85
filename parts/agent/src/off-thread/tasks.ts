/**
 * What is done beside the agent's main thread, which keeps the lease: everything that touches each byte of a transfer. Messages between the
 * two are plain data; a descriptor is the same in every thread of a process.
 */
import type { FileRange } from "../file-range.ts";
import type { FetchedInput } from "../staging/fetch-file.ts";

/** `kept`: a file of ours with the object, which is then not fetched. `keepIn`: where a copy of the object is to be. */
type Keeping = { kept?: string; keepIn?: string };

export type Task =
  /** Fetches an object to a file. */
  | ({ kind: "file"; input: FetchedInput; file: string; ca: string } & Keeping)
  /** Fetches a shard and unpacks it into a folder. */
  | ({
      kind: "shard";
      input: FetchedInput;
      folder: string;
      maxBytes: number;
      ca: string;
    } & Keeping)
  /** SHA-256 of bytes of an open file, in hex; copied to a file on the way where one is named. */
  | { kind: "digest"; range: FileRange; copy?: string }
  /** Sends bytes of an open file to a presigned URL. */
  | { kind: "part"; range: FileRange; url: string; ca: string };

/** `refusal`: the beginning of what the store said with a 403. */
export type PartAnswer = { status: number; etag: string | null; refusal: string };

/** Of what is fetched: the SHA-256 of the copy in `keepIn`; null where there is none. */
export type ResultOf<K extends Task["kind"]> = K extends "digest"
  ? string
  : K extends "part"
    ? PartAnswer
    : string | null;

export type Progress = { bytes: number; files: number };

export type ToThread =
  | { id: number; task: Task }
  | { id: number; url: string }
  | { id: number; urlFailed: ThrownError }
  | { id: number; abort: true };

export type FromThread =
  | { id: number; progress: Progress }
  | { id: number; wantsUrl: { isOutdated: boolean } }
  | { id: number; result: ResultOf<Task["kind"]> }
  | { id: number; failed: ThrownError };

/** An error as data: what of it is asked for elsewhere. */
export type ThrownError = {
  message: string;
  reason?: string;
  detail?: string;
  code?: string;
  syscall?: string;
};
