/** Builds record-calls.c and hands it to processes whose calls are to be recorded. */
import { execFileSync } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Call, encodeMark, readRecording } from "./recording.ts";

/** Ends a process by SIGKILL: after so many of its records, or from then on at the first write or rename to a path, or write of bytes, with this part. */
export type Kill =
  | { after: number }
  | { after: number; atWriteTo: string }
  | { after: number; atWriteOf: string }
  | { after: number; atRenameTo: string };

const SOURCE = join(import.meta.dirname, "record-calls.c");

export class Recorder {
  readonly #library: string;
  readonly #file: string;
  readonly #root: string;

  /**
   * @param folder for the library and the record
   * @param root calls below it are recorded
   */
  constructor(folder: string, root: string) {
    this.#library = join(folder, "record-calls.so");
    this.#file = join(folder, "record");
    this.#root = root;
    execFileSync("gcc", [
      "-shared",
      "-fPIC",
      "-O2",
      "-Wall",
      "-Werror",
      "-o",
      this.#library,
      SOURCE,
    ]);
    writeFileSync(this.#file, "");
  }

  /** For a process that is to be recorded. */
  environment(kill: Kill | null): NodeJS.ProcessEnv {
    return {
      LD_PRELOAD: this.#library,
      RECORD_ROOT: this.#root,
      RECORD_FILE: this.#file,
      ...(kill === null ? {} : { RECORD_KILL_AFTER: String(kill.after) }),
      ...(kill !== null && "atWriteTo" in kill ? { RECORD_KILL_AT_WRITE: kill.atWriteTo } : {}),
      ...(kill !== null && "atWriteOf" in kill ? { RECORD_KILL_AT_TEXT: kill.atWriteOf } : {}),
      ...(kill !== null && "atRenameTo" in kill ? { RECORD_KILL_AT_RENAME: kill.atRenameTo } : {}),
      // Its calls would not go through the C library.
      UV_USE_IO_URING: "0",
    };
  }

  mark(mark: unknown): void {
    appendFileSync(this.#file, encodeMark(mark));
  }

  calls(): Call[] {
    return [...readRecording(readFileSync(this.#file))];
  }
}
