/**
 * Keeps the parts running. Invariants:
 * - one supervisor an instance (an exclusive lock, `supervise.ts`);
 * - one process a part: a predecessor that a killed supervisor left is ended before a new one starts;
 * - what happens next is decided by `plan`, from states alone; this file only does it.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import type { Part, Running } from "../parts/part.ts";
import { type Action, isAlive, type PartState, plan, PROVEN_AFTER_MS } from "./decisions/plan.ts";
import type { FileDigest } from "../measure/file-digests.ts";
import { rotateLogs } from "./rotate-logs.ts";

const TICK_MS = 100;
const PROBE_STARTING_MS = 500;
const PROBE_HEALTHY_MS = 10_000;
const PROBE_TIMEOUT_MS = 5_000;
const ROTATE_EVERY_MS = 10_000;

export type PartStatus = {
  name: string;
  phase: PartState["phase"];
  sinceMs: number;
  /** Since the supervisor started. The back-off has a counter of its own, which begins anew when a part has proven itself. */
  restarts: number;
  pid: number | null;
  port: number | null;
  version: string;
  lastExit: string | null;
  /** Stopped by the operator, until it is started. */
  isHeld: boolean;
};

/** Puts on record what each part runs. */
export type Measuring = {
  /** @throws what the file system says */
  digests: (paths: readonly string[]) => Promise<FileDigest[]>;
  started: (part: string, runs: { files: readonly FileDigest[]; image: string | null }) => void;
};

type Entry = {
  part: Part;
  isHeld: boolean;
  isKept: boolean;
  state: PartState;
  running: Running | null;
  starts: number;
  probing: boolean;
  probedAtMs: number;
  lastExit: string | null;
  busy: boolean;
};

export class Supervisor {
  readonly #entries: Entry[];
  readonly #log: Logger;
  readonly #logFolder: string;
  readonly #measuring: Measuring | null;
  #wanted: "run" | "stop" = "run";
  #rotatedAtMs = 0;

  constructor(
    parts: readonly Part[],
    logFolder: string,
    log: Logger,
    measuring: Measuring | null = null,
  ) {
    this.#entries = parts.map((part) => ({
      part,
      isHeld: false,
      isKept: false,
      state: { phase: "idle" },
      running: null,
      starts: 0,
      probing: false,
      probedAtMs: 0,
      lastExit: null,
      busy: false,
    }));
    this.#log = log;
    this.#logFolder = logFolder;
    this.#measuring = measuring;
  }

  /** Runs until {@link stop} was asked and every part has ended that is not kept. */
  async run(): Promise<void> {
    while (
      this.#wanted === "run" ||
      this.#entries.some(({ state, isKept }) => isAlive(state) && !isKept)
    ) {
      const nowMs = performance.now();
      const parts = this.#entries.map(({ part, state, isHeld, isKept }) => ({
        ...part,
        ...{ state, isKept },
        isHeld: isHeld || !isWanted(part),
      }));
      for (const action of plan(parts, this.#wanted, nowMs)) this.#do(action);
      for (const entry of this.#entries) this.#probe(entry, nowMs);
      if (nowMs - this.#rotatedAtMs > ROTATE_EVERY_MS) {
        this.#rotatedAtMs = nowMs;
        this.#rotateLogs();
      }
      await sleep(TICK_MS);
    }
    // Else this process would stay for as long as they do, with the sockets that the next one makes anew.
    for (const { isKept, running } of this.#entries) if (isKept) running?.letGo?.();
    for (const { isKept, part } of this.#entries) if (!isKept) part.giveUp?.();
  }

  stop(): void {
    this.#wanted = "stop";
  }

  /** Stops these parts and keeps them down; names that are none are passed over. */
  hold(parts: readonly string[]): void {
    for (const entry of this.#entries) if (parts.includes(entry.part.name)) entry.isHeld = true;
  }

  /** These go on when everything is stopped. */
  keep(parts: readonly string[]): void {
    for (const entry of this.#entries) if (parts.includes(entry.part.name)) entry.isKept = true;
  }

  /** Starts them again, as for the first time. */
  release(parts: readonly string[]): void {
    for (const entry of this.#entries) {
      if (!entry.isHeld || !parts.includes(entry.part.name)) continue;
      entry.isHeld = false;
      if (entry.state.phase === "exited") entry.state = { phase: "idle" };
    }
  }

  status(): PartStatus[] {
    const nowMs = performance.now();
    const shown = this.#entries.filter(({ part, state }) => isWanted(part) || isAlive(state));
    return shown.map(({ part, state, running, starts, lastExit, isHeld }) => ({
      name: part.name,
      phase: state.phase,
      sinceMs: Math.round(
        state.phase === "idle"
          ? 0
          : nowMs - (state.phase === "exited" ? state.atMs : state.sinceMs),
      ),
      restarts: Math.max(0, starts - 1),
      pid: running?.pid ?? null,
      port: part.port,
      version: part.version,
      lastExit,
      isHeld,
    }));
  }

  #do(action: Action): void {
    const entry = this.#entries.find(({ part }) => part.name === action.part);
    if (entry === undefined || entry.busy) return;
    const restarts = entry.state.phase === "idle" ? 0 : entry.state.restarts;
    switch (action.do) {
      case "start":
        entry.busy = true;
        entry.starts += 1;
        entry.state = {
          phase: "starting",
          sinceMs: performance.now(),
          restarts: entry.state.phase === "exited" ? restarts + 1 : restarts,
        };
        void this.#start(entry).finally(() => {
          entry.busy = false;
        });
        break;
      case "stop":
        entry.state = { phase: "stopping", sinceMs: performance.now(), restarts };
        this.#log.info({ part: action.part }, "stopping");
        entry.running?.stop();
        break;
      case "kill":
        this.#log.warn({ part: action.part }, "killing: it did not stop in time");
        entry.running?.kill();
        break;
    }
  }

  async #start(entry: Entry): Promise<void> {
    const { part } = entry;
    try {
      const before = part.setAside;
      if (before === undefined) await part.endLeftover();
      const endBefore = await before?.();
      await part.prepare?.();
      const files = await this.#measure(part);
      const running = await part.start();
      entry.running = running;
      entry.probedAtMs = 0;
      // Its time to become healthy counts from here: an image may have been pulled first.
      if (entry.state.phase === "starting")
        entry.state = { ...entry.state, sinceMs: performance.now() };
      this.#log.info({ part: part.name, pid: running.pid }, "started");
      const { image = null } = running;
      // One of the release whose files could not be read says so by naming none.
      if ((part.runs ?? []).length > 0 || image !== null)
        this.#measuring?.started(part.name, { files, image });
      void running.exited.then((how) => this.#onExit(entry, running, how));
      endBefore?.().catch((err: unknown) => {
        this.#log.error({ err, part: part.name }, "could not end what ran before it");
      });
    } catch (error) {
      this.#log.error({ err: error, part: part.name }, "could not start");
      this.#onExit(entry, entry.running, error instanceof Error ? error.message : String(error));
    }
  }

  /** What can't be read is told, and its part is started all the same: one that lacks its program says so itself. */
  async #measure({ name, runs = [] }: Part): Promise<readonly FileDigest[]> {
    try {
      return (await this.#measuring?.digests(runs)) ?? [];
    } catch (error) {
      this.#log.error({ err: error, part: name }, "could not hash what it runs");
      return [];
    }
  }

  #onExit(entry: Entry, running: Running | null, how: string): void {
    if (entry.running !== running) return;
    const nowMs = performance.now();
    const { state } = entry;
    const proven =
      (state.phase === "healthy" || state.phase === "unhealthy") &&
      nowMs - state.sinceMs > PROVEN_AFTER_MS;
    // A restart counter of -1 makes the next start number 0: a proven part begins anew.
    const restarts = proven ? -1 : state.phase === "idle" ? 0 : state.restarts;
    entry.running = null;
    entry.lastExit = how;
    entry.state = { phase: "exited", atMs: nowMs, restarts };
    this.#log[this.#wanted === "stop" ? "info" : "warn"]({ part: entry.part.name, how }, "ended");
  }

  /** A full disk must not end the supervisor. */
  #rotateLogs(): void {
    try {
      rotateLogs(this.#logFolder);
    } catch (error) {
      this.#log.error({ err: error }, "could not rotate the logs");
    }
  }

  #probe(entry: Entry, nowMs: number): void {
    const { state } = entry;
    if (
      entry.probing ||
      entry.running === null ||
      (state.phase !== "starting" && state.phase !== "healthy" && state.phase !== "unhealthy")
    )
      return;
    if (
      nowMs - entry.probedAtMs <
      (state.phase === "healthy" ? PROBE_HEALTHY_MS : PROBE_STARTING_MS)
    )
      return;
    entry.probing = true;
    entry.probedAtMs = nowMs;
    const { running } = entry;
    void withTimeout(entry.part.isHealthy(), PROBE_TIMEOUT_MS).then((healthy) => {
      entry.probing = false;
      // The part may have ended, or been told to stop, while it was asked.
      if (entry.running !== running) return;
      const now = performance.now();
      const current = entry.state;
      if (healthy && (current.phase === "starting" || current.phase === "unhealthy")) {
        entry.state = { phase: "healthy", sinceMs: now, restarts: current.restarts };
        this.#log.info({ part: entry.part.name }, "healthy");
      } else if (!healthy && current.phase === "healthy") {
        entry.state = { phase: "unhealthy", sinceMs: now, restarts: current.restarts };
        this.#log.warn({ part: entry.part.name }, "does not answer");
      }
    });
  }
}

function isWanted({ isWanted: asked }: Part): boolean {
  return asked?.() ?? true;
}

async function withTimeout(probe: Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const timer = new AbortController();
  try {
    return await Promise.race([probe, sleep(timeoutMs, false, { signal: timer.signal })]);
  } catch {
    return false;
  } finally {
    timer.abort();
  }
}
