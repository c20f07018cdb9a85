import { closeSync, constants, openSync, readSync } from "node:fs";

/** The kernel writes no longer record, with its dictionary. */
const RECORD_BYTES = 16_384;
const MAX_RECORDS_AT_ONCE = 10_000;

/** The kernel's log, record by record, from the oldest that it still has. It waits for nothing. */
export class KernelLog implements Disposable {
  readonly #descriptor: number;
  readonly #buffer = Buffer.alloc(RECORD_BYTES);
  /** Of a file that stands in for the device, and gives several records at once. */
  #rest = "";

  /** @throws where there is none, or none to be read */
  constructor(file = "/dev/kmsg") {
    this.#descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  }

  /** What was added since the last call. */
  read(): string[] {
    const records: string[] = [];
    while (records.length < MAX_RECORDS_AT_ONCE) {
      const text = this.#readOnce();
      if (text === null) break;
      const lines = `${this.#rest}${text}`.split("\n");
      this.#rest = lines.pop() ?? "";
      // A line that begins with a space belongs to the record before it.
      records.push(...lines.filter((line) => line !== "" && !line.startsWith(" ")));
    }
    return records;
  }

  /** Null when there is no more now. */
  #readOnce(): string | null {
    for (;;)
      try {
        const bytes = readSync(this.#descriptor, this.#buffer);
        return bytes === 0 ? null : this.#buffer.toString("utf8", 0, bytes);
      } catch (error) {
        const code = error instanceof Error && "code" in error ? error.code : undefined;
        if (code === "EAGAIN") return null;
        // Records were overwritten before they were read: the next call gives the oldest that is left.
        if (code !== "EPIPE") throw error;
      }
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}
