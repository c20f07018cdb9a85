/**
 * Which test files passed on these very bytes, on this machine: they need not run again. A file's bytes are those of every file that it can see, of the
 * runner, of all locked packages, and of the host's own.
 */
import { readFileSync } from "node:fs";
import { renameSync, writeFileSync } from "node:fs";
import type { TapSummary } from "./tap-summary.ts";

export type Verdict = {
  /** Of all that the file can see. */
  digest: string;
  passed: number;
  skipped: number;
  /** When it passed, as milliseconds since the epoch. */
  at: number;
};

/** Certificates, dates and retention go on: a verdict does not hold for ever on unchanged bytes. */
const HOLDS_MS = 7 * 24 * 3_600_000;

export class Verdicts {
  readonly #file: string;
  readonly #kept: Map<string, Verdict>;

  private constructor(file: string, kept: Map<string, Verdict>) {
    this.#file = file;
    this.#kept = kept;
  }

  /** One that can't be read holds nothing. */
  static load(file: string): Verdicts {
    try {
      const read = JSON.parse(readFileSync(file, "utf8")) as Record<string, Verdict>;
      return new Verdicts(file, new Map(Object.entries(read)));
    } catch {
      return new Verdicts(file, new Map());
    }
  }

  /** Null: the file has to run. @param digest null: nobody knows what it sees */
  find(file: string, digest: string | null, now: number): Verdict | null {
    const verdict = this.#kept.get(file);
    if (verdict === undefined || verdict.digest !== digest) return null;
    return now >= verdict.at && now - verdict.at < HOLDS_MS ? verdict : null;
  }

  /** A file that failed loses what it had. */
  note(file: string, { passed, skipped, failures }: TapSummary, digest: string, at: number): void {
    if (failures.length > 0) this.#kept.delete(file);
    else this.#kept.set(file, { digest, passed, skipped, at });
  }

  save(): void {
    const beside = `${this.#file}.new`;
    writeFileSync(beside, JSON.stringify(Object.fromEntries(this.#kept)));
    renameSync(beside, this.#file);
  }
}
