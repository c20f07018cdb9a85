/**
 * The journal: a line, synced, before each step and after it. An install that was broken off goes on from it; uninstall replays the ledger.
 *
 * It outlives releases, and after a rollback an older installer reads it. Fields that it does not know are passed over. A kind of line that it does
 * not know is passed over when the line says that it may be (`passOver`); any other is damage, because a flipped bit makes such a line as well.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  truncateSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { isFullDisk, writeNow } from "@resontech/frame/durable-file";
import { syncNow } from "@resontech/frame/durable-file-now";
import { type Static, Type } from "typebox";
import { reader } from "@resontech/contracts/readable";
import { digestOf, InstallRequest } from "./request.ts";

const closed = { additionalProperties: false } as const;
const at = Type.String();

const JournalLine = Type.Union([
  /** One run for one release and one configuration; a resume must match both. */
  Type.Object(
    {
      kind: Type.Literal("begin"),
      release: Type.String(),
      configuration: Type.String(),
      request: InstallRequest,
      at,
    },
    closed,
  ),
  Type.Object(
    {
      kind: Type.Literal("step"),
      step: Type.String(),
      state: Type.Union([Type.Literal("started"), Type.Literal("done")]),
      at,
    },
    closed,
  ),
  /**
   * The ledger: what is about to be made outside the root's own folders, for uninstall to take back. `folder` goes when it is empty, `tree`
   * with all that is in it; a `unit` is named by the instance.
   */
  Type.Object(
    {
      kind: Type.Literal("owns"),
      what: Type.Union([
        Type.Literal("folder"),
        Type.Literal("tree"),
        Type.Literal("file"),
        Type.Literal("unit"),
      ]),
      path: Type.String(),
      at,
    },
    closed,
  ),
]);
type JournalLine = Static<typeof JournalLine>;
const readLine = reader(JournalLine);
/** Of a newer release, which can do without an older one acting on it. */
const readForeign = reader(
  Type.Object({ kind: Type.String(), passOver: Type.Literal(true), at }, closed),
);
type Unstamped<L> = L extends JournalLine ? Omit<L, "at"> : never;
/** One run for one release: what it was asked for, and how far each step came. */
export type Run = {
  begin: Extract<JournalLine, { kind: "begin" }>;
  /** Steps whose last line says so; one that was started again since is not done. */
  done: ReadonlySet<string>;
  started: ReadonlySet<string>;
};
export type Owned = Extract<JournalLine, { kind: "owns" }>;

/** A line in the middle can't be read: the journal was changed, and what it says of this host can't be trusted. */
export class JournalDamagedError extends Error {
  readonly code = "journal_damaged";
}

/** Several times the lines of a return. */
const RESERVE_BYTES = 64 * 1024;

export const journalFile = (root: string): string => join(root, "journal", "journal.jsonl");

export class Journal {
  readonly file: string;
  readonly #lines: JournalLine[];
  /** Kinds of the lines that a newer release wrote and this one does not act upon. */
  readonly passedOver: readonly string[];

  /** Reads it; writes nothing. @throws JournalDamagedError */
  constructor(root: string) {
    this.file = journalFile(root);
    const { lines, passedOver } = existsSync(this.file)
      ? readLines(this.file)
      : { lines: [], passedOver: [] };
    this.#lines = lines;
    this.passedOver = passedOver;
  }

  /** Every run that was begun, the oldest first. */
  get runs(): readonly Run[] {
    const runs: (Run & { done: Set<string>; started: Set<string> })[] = [];
    for (const line of this.#lines) {
      if (line.kind === "begin") runs.push({ begin: line, done: new Set(), started: new Set() });
      const run = runs.at(-1);
      if (line.kind !== "step" || run === undefined) continue;
      if (line.state === "done") run.done.add(line.step);
      else {
        run.started.add(line.step);
        run.done.delete(line.step);
      }
    }
    return runs;
  }

  /**
   * How long each step took when it was last done for a release that was not there before, milliseconds by the host's clock. One more run for the same
   * release finds everything started.
   */
  get stepMs(): ReadonlyMap<string, number> {
    const [begun, took] = [new Map<string, number>(), new Map<string, number>()];
    let [release, isNew] = ["", false];
    for (const line of this.#lines) {
      if (line.kind === "begin") [isNew, release] = [line.release !== release, line.release];
      if (line.kind !== "step" || !isNew) continue;
      const at = Date.parse(line.at);
      const from = begun.get(line.step);
      if (line.state === "started") begun.set(line.step, at);
      else if (from !== undefined) took.set(line.step, at - from);
      if (line.state === "done") begun.delete(line.step);
    }
    return took;
  }

  /** Steps of the last begun run that are done. */
  get doneSteps(): ReadonlySet<string> {
    return this.runs.at(-1)?.done ?? new Set();
  }

  get lastBegin(): Extract<JournalLine, { kind: "begin" }> | null {
    return this.#lines.findLast((line) => line.kind === "begin") ?? null;
  }

  /** What each run was asked for, newest first. */
  get requests(): readonly InstallRequest[] {
    return this.#lines
      .flatMap((line) => (line.kind === "begin" ? [line.request] : []))
      .toReversed();
  }

  /** The ledger, newest first. */
  get owned(): readonly Owned[] {
    return this.#lines.filter((line) => line.kind === "owns").toReversed();
  }

  /** Names in the ledger what is about to be made, once. */
  own(what: Owned["what"], path: string): void {
    if (
      !this.#lines.some((line) => line.kind === "owns" && line.what === what && line.path === path)
    )
      this.append({ kind: "owns", what, path });
  }

  get #reserve(): string {
    return join(dirname(this.file), "reserve");
  }

  /** The way back needs a few lines on a disk that the way forth has filled. Where there is no room to hold, the line itself finds out. */
  #holdRoom(): void {
    if (existsSync(this.#reserve)) return;
    try {
      writeLine(this.#reserve, Buffer.alloc(RESERVE_BYTES));
    } catch (error) {
      rmSync(this.#reserve, { force: true });
      if (!isFullDisk(error)) throw error;
    }
  }

  /** Durable, and whole, when it returns. @throws what the disk says; that it is full once the room that was held is used up too */
  append(unstamped: Unstamped<JournalLine>): void {
    const line: JournalLine = { ...unstamped, at: new Date().toISOString() };
    mkdirSync(dirname(this.file), { recursive: true, mode: 0o700 });
    if (line.kind === "begin") this.#holdRoom();
    const text = Buffer.from(`${JSON.stringify(line)}\n`);
    try {
      writeLine(this.file, text);
    } catch (error) {
      if (!isFullDisk(error) || !existsSync(this.#reserve)) throw error;
      rmSync(this.#reserve);
      writeLine(this.file, text);
    }
    if (this.#lines.length === 0) syncNow(dirname(this.file));
    this.#lines.push(line);
  }
}

/** Appends a line, and syncs it. Of one that did not go whole nothing counts: {@link cutTornLine} takes it away before the next. */
function writeLine(file: string, text: Buffer): void {
  cutTornLine(file);
  const fd = openSync(file, "a", 0o600);
  try {
    writeNow(fd, text, null);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** What a crash cut short was never acted upon: the next line must not be glued to it. */
function cutTornLine(file: string): void {
  if (!existsSync(file)) return;
  const bytes = readFileSync(file);
  const whole = bytes.lastIndexOf(0x0a) + 1;
  if (whole < bytes.length) truncateSync(file, whole);
}

function readLines(file: string): { lines: JournalLine[]; passedOver: string[] } {
  const texts = readFileSync(file, "utf8").split("\n");
  // After the last line break there is nothing, or a line that a crash cut short.
  texts.pop();
  const passedOver: string[] = [];
  const lines = texts.flatMap((text, index) => {
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch {
      value = null;
    }
    const line = readLine(value);
    if (line !== null && isAsItWasBegun(line, value)) return [line];
    const foreign = line === null ? readForeign(value) : null;
    if (foreign !== null) {
      passedOver.push(foreign.kind);
      return [];
    }
    throw new JournalDamagedError(
      `line ${index + 1} of ${file} is not the installer's, or was written by a newer release that this one can't follow`,
    );
  });
  return { lines, passedOver };
}

/** Its digest covers what was asked for as it was written, fields included that this release does not know: none of it was changed. */
function isAsItWasBegun(line: JournalLine, value: unknown): boolean {
  return line.kind !== "begin" || digestOf((value as typeof line).request) === line.configuration;
}
