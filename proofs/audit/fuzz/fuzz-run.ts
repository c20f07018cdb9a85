import { mkdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { ProofContext } from "../../proof.ts";
import { Dice } from "./dice.ts";
import type { Fault } from "./fault.ts";
import { Findings, type Place } from "./findings.ts";
import { bytesOf, type Input } from "./input.ts";
import { JudgeProcess } from "./evaluate-process.ts";
import { LARGE_INPUTS, type LargeKind, largeInput } from "./large-inputs.ts";
import { cpuLimitS, MAX_PROGRAM_RSS_MIB, WORKER_HEAP_MIB, WORKER_RSS_MIB } from "./limits.ts";
import { InputMaker, type Path } from "./make-input.ts";
import { NoteKeys } from "./note-keys.ts";
import { faultOfRun, runProgram } from "./program.ts";
import type { NodeBuild } from "../instances/node-builds.ts";
import type { Samples } from "./samples.ts";
import type { WorkerNews, WorkerTask } from "./worker.ts";

export type FuzzGiven = {
  /** For files of its own. */
  root: string;
  samples: Samples;
  /** The same, serialized. */
  samplesFile: string;
  seed: number;
  /** As it ships. */
  program: string;
  /** What it is run by, in turns. */
  nodes: readonly NodeBuild[];
  progress: ProofContext["progress"];
};

const PROGRAM_EVERY = 200;
const TELL_MS = 60_000;
/** What a broken judge is noticed within. */
const BROKEN_S = 60;
const BROKEN_CPU_S = 2;
/** Large inputs after the first of each kind: so much of the time. */
const LARGE_PART = 0.1;

/** The fuzzing itself: processes that judge, large inputs beside them, and what came of all. */
export class FuzzRun {
  readonly #given: FuzzGiven;
  readonly #maker: InputMaker;
  readonly #findings: Findings;
  readonly #byKind: Record<string, number> = {};
  readonly #byCode: Record<string, number> = {};
  readonly #large: Partial<Record<LargeKind, number>> = {};
  readonly #heavy: Path[] = [];
  readonly #programRuns: Record<string, number> = {};
  #programPeakMib = 0;
  #largePeakMib = 0;
  #largeCpuPart = 0;
  #workerPeakMib = 0;
  #slowestMs = 0;
  #restarts = 0;
  #reached: WorkerNews["reached"] = { part: 0, never: [] };
  #fromMs = 0;
  #tookS = 0;

  constructor(given: FuzzGiven) {
    this.#given = given;
    this.#maker = new InputMaker(given.samples, given.seed);
    this.#findings = new Findings(given.samplesFile);
  }

  /** Whether what each broken judge does is told for what it is. */
  async notices(): Promise<Record<"throws" | "loops" | "allocates" | "passes", boolean>> {
    return {
      throws: (await this.#told("throws", "nothing can be read of undefined")) === "crash",
      loops: (await this.#told("loops", "")) === "hang",
      allocates: (await this.#told("allocates", "")) === "memory",
      passes: (await this.#told("passes", "passes ")) === "wrong",
    };
  }

  /** Until the time is over and each kind of large inputs was judged. */
  async fuzz(seconds: number): Promise<void> {
    this.#fromMs = performance.now();
    const endsMs = this.#fromMs + seconds * 1_000;
    const workers = availableParallelism();
    const timer = setInterval(() => this.#tell(), TELL_MS);
    const stop = new AbortController();
    const judging = Array.from({ length: workers }, (_, worker) =>
      this.#judge(worker, workers, stop.signal),
    );
    await this.#evaluateLarge(endsMs);
    stop.abort();
    await Promise.all(judging);
    clearInterval(timer);
    this.#tookS = (performance.now() - this.#fromMs) / 1_000;
    this.#tell();
  }

  result(): { isSound: boolean; figures: Record<string, unknown> } {
    const { crash, hang, memory, wrong } = this.#findings.counts;
    const inputs = this.#inputs;
    const allNodes = this.#given.nodes.every(
      ({ version }) => (this.#programRuns[version] ?? 0) > 0,
    );
    const allLarge = Object.keys(LARGE_INPUTS).every(
      (kind) => (this.#large[kind as LargeKind] ?? 0) > 0,
    );
    return {
      isSound: crash + hang + memory + wrong === 0 && inputs > 0 && allNodes && allLarge,
      figures: {
        seconds: Math.round(this.#tookS),
        inputs,
        runs_per_s: Number((inputs / this.#tookS).toFixed(1)),
        by_kind: this.#byKind,
        by_exit_code: this.#byCode,
        program_runs: this.#programRuns,
        large_inputs: this.#large,
        ...{
          crashes: crash,
          hangs: hang,
          over_memory: memory,
          wrong,
          workers_begun_again: this.#restarts,
        },
        peak_rss_mib: {
          program: Math.round(this.#programPeakMib),
          program_on_large_inputs: Math.round(this.#largePeakMib),
          worker: Math.round(this.#workerPeakMib),
        },
        slowest_ms: Math.round(this.#slowestMs),
        large_cpu_part_of_limit: Number(this.#largeCpuPart.toFixed(2)),
        code_reached: Number(this.#reached.part.toFixed(4)),
        functions_never_reached: this.#reached.never,
        limits: {
          program_rss_mib: MAX_PROGRAM_RSS_MIB,
          worker_heap_mib: WORKER_HEAP_MIB,
          worker_rss_judged_again_mib: WORKER_RSS_MIB,
          cpu_s: cpuLimitS(0),
          cpu_s_for_100_mib: cpuLimitS(100 * 1_048_576),
        },
        findings: this.#findings.first,
      },
    };
  }

  get #inputs(): number {
    return sumOf(this.#byKind);
  }

  async #told(judge: WorkerTask["judge"], said: string): Promise<string | null> {
    let told: string | null = null;
    const process = new JudgeProcess(
      this.#task({ first: 0, stride: 1, judge, program: null }, judge),
      ({ found }) => {
        const one = found.find(({ fault }) => fault.said.includes(said) && said !== "");
        told ??= one?.fault.what ?? null;
        if (told !== null) process.end();
      },
      BROKEN_CPU_S,
    );
    const timer = setTimeout(() => process.end(), BROKEN_S * 1_000);
    const ending = await process.ended();
    clearTimeout(timer);
    return told ?? ending?.fault.what ?? null;
  }

  #task(
    changes: Pick<WorkerTask, "first" | "stride" | "judge" | "program">,
    name: string,
  ): WorkerTask {
    const folder = join(this.#given.root, `judging-${name}`);
    mkdirSync(folder, { recursive: true });
    const progressFile = join(folder, "progress");
    return {
      ...changes,
      only: null,
      samplesFile: this.#given.samplesFile,
      seed: this.#given.seed,
      progressFile,
      folder,
    };
  }

  /** One process after the other: each ends only of what must not be. */
  async #judge(worker: number, stride: number, signal: AbortSignal): Promise<void> {
    for (let first = worker; !signal.aborted; ) {
      const program = { path: this.#given.program, nodes: this.#given.nodes, every: PROGRAM_EVERY };
      const task = this.#task({ first, stride, judge: "verifier", program }, String(worker));
      const process = new JudgeProcess(task, (news) => this.#note(news));
      const stop = (): void => process.end();
      signal.addEventListener("abort", stop);
      const ending = await process.ended();
      signal.removeEventListener("abort", stop);
      if (ending === null) return;
      this.#restarts += 1;
      const { path, fault } = ending;
      if (path.length === 0)
        throw new Error(`a judging process ended before its first input: ${fault.said}`);
      this.#found({ path }, fault, () => this.#maker.at(path).input);
      first = (path.at(-1) ?? first) + stride;
    }
  }

  #note({
    byKind,
    byCode,
    programRuns,
    programPeakMib,
    peakMib,
    slowestMs,
    found,
    heavy,
    reached,
  }: WorkerNews): void {
    for (const [kind, count] of Object.entries(byKind))
      this.#byKind[kind] = (this.#byKind[kind] ?? 0) + count;
    for (const [code, count] of Object.entries(byCode))
      this.#byCode[code] = (this.#byCode[code] ?? 0) + count;
    for (const [version, count] of Object.entries(programRuns))
      this.#programRuns[version] = (this.#programRuns[version] ?? 0) + count;
    this.#programPeakMib = Math.max(this.#programPeakMib, programPeakMib);
    this.#workerPeakMib = Math.max(this.#workerPeakMib, peakMib);
    this.#slowestMs = Math.max(this.#slowestMs, slowestMs);
    if (reached.part > this.#reached.part) this.#reached = reached;
    this.#heavy.push(...heavy);
    for (const { path, fault } of found)
      this.#found({ path }, fault, () => this.#maker.at(path).input);
  }

  #found(place: Place, fault: Fault, input: () => Input): void {
    if (this.#findings.add(place, this.#given.seed, fault, input))
      this.#given.progress(`${fault.what}: ${JSON.stringify(place)} ${fault.said}`);
  }

  /** Large inputs of each kind, then by turns as long as there is time; and what took much memory where it could not be told why. */
  async #evaluateLarge(endsMs: number): Promise<void> {
    const kinds = Object.keys(LARGE_INPUTS) as LargeKind[];
    const keys = new NoteKeys(this.#given.samples.ring);
    for (let number = 0; number < kinds.length || performance.now() < endsMs; number++) {
      const fromMs = performance.now();
      const large = kinds[number % kinds.length]!;
      await this.#evaluateByProgram(
        { large, number },
        largeInput(large, keys, Dice.numbered(this.#given.seed, number)),
      );
      this.#large[large] = (this.#large[large] ?? 0) + 1;
      for (const path of this.#heavy.splice(0))
        await this.#evaluateByProgram({ path }, this.#maker.at(path).input);
      if (number + 1 < kinds.length) continue;
      const restMs = (performance.now() - fromMs) * (1 / LARGE_PART - 1);
      await pause(Math.max(0, Math.min(restMs, endsMs - performance.now())));
    }
  }

  async #evaluateByProgram(place: Place, input: Input): Promise<void> {
    const run = await runProgram(
      this.#given.program,
      input,
      join(this.#given.root, "large"),
      process.execPath,
    );
    const bytes = bytesOf(input);
    this.#largePeakMib = Math.max(this.#largePeakMib, run.peakMib ?? 0);
    this.#largeCpuPart = Math.max(this.#largeCpuPart, (run.cpuS ?? 0) / cpuLimitS(bytes));
    const fault = faultOfRun(run, bytes);
    if (fault !== null) this.#found(place, fault, () => input);
  }

  #tell(): void {
    const { crash, hang, memory, wrong } = this.#findings.counts;
    const seconds = (performance.now() - this.#fromMs) / 1_000;
    const large = sumOf(this.#large);
    this.#given.progress(
      `${this.#inputs} inputs, ${(this.#inputs / seconds).toFixed(0)} a second, ${sumOf(this.#programRuns)} by the program as well, ${large} large; ` +
        `${crash} crashes, ${hang} hangs, ${memory} over memory, ${wrong} wrong; ${(100 * this.#reached.part).toFixed(1)} % of the code reached`,
    );
  }
}

function sumOf(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
