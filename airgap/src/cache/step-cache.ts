/**
 * A content-addressed cache of build steps: a step's result is kept under the digest of everything that decides it.
 * A result appears whole or not at all (built beside, then renamed), and two builds at once wait for one another.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import canonicalize from "canonicalize";

export type StepInputs = Readonly<Record<string, unknown>>;

export class StepCache {
  readonly directory: string;
  readonly #pending = new Map<string, Promise<string>>();
  /** Milliseconds spent in steps named `fetch …`: told apart from work. */
  downloadMs = 0;

  constructor(directory: string) {
    this.directory = directory;
    mkdirSync(join(directory, "steps"), { recursive: true });
  }

  /**
   * Answers the folder with the result of the step, building it first when no earlier build did.
   *
   * @param name what a person sees; `fetch …` counts as download time
   * @param inputs everything that decides the result: versions, digests of sources, the step's own revision
   * @param build fills the empty folder it is given; throws to leave nothing behind
   */
  async step(name: string, inputs: StepInputs, build: (into: string) => Promise<void>): Promise<string> {
    const key = createHash("sha256")
      .update(canonicalize({ name, inputs }) ?? "")
      .digest("hex");
    const running = this.#pending.get(key);
    if (running !== undefined) return await running;
    const work = this.#run(name, key, build);
    this.#pending.set(key, work);
    try {
      return await work;
    } finally {
      this.#pending.delete(key);
    }
  }

  async #run(name: string, key: string, build: (into: string) => Promise<void>): Promise<string> {
    const done = join(this.directory, "steps", `${name.replaceAll(/[^A-Za-z0-9.]+/g, "-")}-${key.slice(0, 24)}`);
    if (existsSync(done)) return done;
    await using _lock = await StepLock.take(`${done}.lock`);
    if (existsSync(done)) return done;
    const beside = `${done}.part`;
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(beside, { recursive: true });
    const from = Date.now();
    progress(name);
    try {
      await build(beside);
    } catch (error) {
      rmSync(beside, { recursive: true, force: true });
      throw error;
    }
    renameSync(beside, done);
    const ms = Date.now() - from;
    if (name.startsWith("fetch ")) this.downloadMs += ms;
    progress(`${name}: ${(ms / 1000).toFixed(1)} s`);
    return done;
  }
}

const startedAt = Date.now();

/** One line for the person who waits. */
export function progress(line: string): void {
  process.stderr.write(`[airgap ${((Date.now() - startedAt) / 1000).toFixed(1).padStart(6)} s] ${line}\n`);
}

/** A lock file with the holder's pid; a dead holder's lock is taken over. */
class StepLock {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  static async take(file: string): Promise<StepLock> {
    for (let waited = 0; ; waited += 1) {
      try {
        writeFileSync(file, String(process.pid), { flag: "wx" });
        return new StepLock(file);
      } catch (error) {
        if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      }
      if (waited === 20) progress(`waiting for another build to finish ${file}`);
      if (!isHolderAlive(file)) rmSync(file, { force: true });
      await sleep(250);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.#file, { force: true });
  }
}

function isHolderAlive(file: string): boolean {
  try {
    const pid = Number(readFileSync(file, "utf8"));
    // An empty file belongs to a holder that is just writing it.
    return pid === 0 || existsSync(`/proc/${pid}`);
  } catch {
    return false;
  }
}
