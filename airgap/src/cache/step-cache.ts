/**
 * A content-addressed cache of fetches and build steps: a result is kept under the digest of everything that decides it.
 *
 * Invariants: a result appears whole or not at all (built beside, then renamed) · nobody writes into a result that is there · two builds at
 * once, in one process or in two, make a result once · at most {@link WORKERS} steps of a process build at a time.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import canonicalize from "canonicalize";
import { BuildClock } from "./build-clock.ts";
import { FileLock } from "./file-lock.ts";
import { progress } from "./progress.ts";
import { Slots } from "./slots.ts";

/** Everything that decides a result: versions, digests, ids of other results, the step's own revision. JSON values. */
export type StepInputs = Readonly<Record<string, unknown>>;

type Kind = "fetch" | "build";

/** Steps that build at a time; compilers and compressors use threads of their own on top. */
const WORKERS = 2;
/** Fetches wait for a distant server most of the time. */
const FETCHERS = 4;

/** A step that was not begun, because another one of the same build failed. */
export class BuildStoppedError extends Error {
  readonly code = "build_stopped";
}

export class StepCache {
  readonly directory: string;
  readonly #clock: BuildClock;
  readonly #pending = new Map<string, Promise<string>>();
  #hasFailed = false;
  readonly #slots: Readonly<Record<Kind, Slots>> = {
    fetch: new Slots(FETCHERS),
    build: new Slots(WORKERS),
  };

  constructor(directory: string, clock: BuildClock = new BuildClock()) {
    this.directory = directory;
    this.#clock = clock;
    mkdirSync(join(directory, "steps"), { recursive: true });
    mkdirSync(join(directory, "locks"), { recursive: true });
  }

  /**
   * Answers the folder with the result of a build step, which needs no network; builds it first when no earlier build did.
   *
   * @param name what a person sees
   * @param fill fills the empty folder it is given; throws to leave nothing behind
   */
  async step(
    name: string,
    inputs: StepInputs,
    fill: (into: string) => Promise<void>,
  ): Promise<string> {
    return await this.#once("build", name, inputs, fill);
  }

  /** As {@link step} for what comes from a registry: its time is told apart, and `inputs` pin every byte of it. */
  async fetch(
    name: string,
    inputs: StepInputs,
    fill: (into: string) => Promise<void>,
  ): Promise<string> {
    return await this.#once("fetch", `fetch ${name}`, inputs, fill);
  }

  async #once(
    kind: Kind,
    name: string,
    inputs: StepInputs,
    fill: (into: string) => Promise<void>,
  ): Promise<string> {
    const key = createHash("sha256")
      .update(canonicalize({ name, inputs }) ?? "")
      .digest("hex");
    const running = this.#pending.get(key);
    if (running !== undefined) return await running;
    const work = this.#run(kind, name, key, fill);
    this.#pending.set(key, work);
    try {
      return await work;
    } finally {
      this.#pending.delete(key);
    }
  }

  async #run(
    kind: Kind,
    name: string,
    key: string,
    fill: (into: string) => Promise<void>,
  ): Promise<string> {
    const id = `${name.replaceAll(/[^A-Za-z0-9.]+/g, "-")}-${key.slice(0, 24)}`;
    const done = join(this.directory, "steps", id);
    if (existsSync(done)) return done;
    using _slot = await this.#slots[kind].take();
    // What is under way may end and be kept; nothing new is begun for a build that can't succeed.
    if (this.#hasFailed) throw new BuildStoppedError(`${name} was not begun: another step failed`);
    await using _lock = await FileLock.take(join(this.directory, "locks", id));
    if (existsSync(done)) return done;
    const beside = `${done}.part`;
    rmSync(beside, { recursive: true, force: true });
    mkdirSync(beside);
    progress(name);
    const from = Date.now();
    try {
      using _measured = this.#clock.start(kind);
      await fill(beside);
    } catch (error) {
      this.#hasFailed = true;
      rmSync(beside, { recursive: true, force: true });
      throw error;
    }
    renameSync(beside, done);
    progress(`${name}: ${((Date.now() - from) / 1000).toFixed(1)} s`);
    return done;
  }
}

/** What stands for a result among the inputs of the next step: the same wherever the cache lies. */
export function resultId(folder: string): string {
  return basename(folder);
}
