/** The journal: a line, synced, before each step and after it. An install that was broken off goes on from it; uninstall replays the ledger. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";

export type JournalLine =
  /** One run for one release and one configuration; a resume must match both. */
  | { kind: "begin"; release: string; configuration: string; at: string }
  | { kind: "step"; step: string; state: "started" | "done"; at: string }
  /** Something outside the root that uninstall must take back. */
  | { kind: "owns"; what: "unit" | "file" | "folder"; path: string; at: string };

export class Journal {
  readonly file: string;
  #lines: JournalLine[];

  constructor(root: string) {
    this.file = join(root, "journal", "journal.jsonl");
    this.#lines = existsSync(this.file) ? readLines(this.file) : [];
  }

  get lines(): readonly JournalLine[] {
    return this.#lines;
  }

  /** Steps of the last begun run that are done. */
  get doneSteps(): ReadonlySet<string> {
    const from = this.#lines.findLastIndex((line) => line.kind === "begin");
    return new Set(
      this.#lines.slice(Math.max(0, from)).flatMap((line) => (line.kind === "step" && line.state === "done" ? [line.step] : [])),
    );
  }

  get lastBegin(): Extract<JournalLine, { kind: "begin" }> | null {
    return this.#lines.findLast((line) => line.kind === "begin") ?? null;
  }

  append(line: JournalLine): void {
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    const fd = openSync(this.file, "a", 0o600);
    try {
      writeSync(fd, `${JSON.stringify(line)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    this.#lines.push(line);
  }
}

/** A last line that a crash cut short was never acted upon and is dropped. */
function readLines(file: string): JournalLine[] {
  const lines: JournalLine[] = [];
  for (const text of readFileSync(file, "utf8").split("\n")) {
    if (text === "") continue;
    try {
      lines.push(JSON.parse(text) as JournalLine);
    } catch {
      break;
    }
  }
  return lines;
}
