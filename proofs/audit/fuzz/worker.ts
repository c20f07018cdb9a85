/**
 * Judges one input after the other until it is ended: a process of the fuzzer's. Before each it writes the input's path to a file, so that whoever
 * watches it knows at what it hangs or ended.
 */
import { openSync, readFileSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { deserialize } from "node:v8";
import type { BROKEN_JUDGES } from "./broken-judges.ts";
import { Coverage } from "./coverage.ts";
import { Dice } from "./dice.ts";
import type { Fault } from "./fault.ts";
import { HonestContent } from "./honest-content.ts";
import { bytesOf, type Input } from "./input.ts";
import type { Judge, Judged } from "./judged.ts";
import { WORKER_RSS_MIB } from "./limits.ts";
import { InputMaker, type Made, type Path } from "./make-input.ts";
import { faultOfRun, runProgram } from "./program.ts";
import type { NodeBuild } from "../instances/node-builds.ts";
import type { Samples } from "./samples.ts";

export type WorkerTask = {
  samplesFile: string;
  seed: number;
  /** Numbers `first`, `first + stride` … are judged; or, where a path is given, its input alone. */
  first: number;
  stride: number;
  only: Path | null;
  judge: "verifier" | keyof typeof BROKEN_JUDGES;
  /** The shipped program, what it is run by in turns, and each how many inputs it judges as well. */
  program: { path: string; nodes: readonly NodeBuild[]; every: number } | null;
  progressFile: string;
  folder: string;
};
/** Since the message before. */
export type WorkerNews = {
  byKind: Record<string, number>;
  byCode: Record<string, number>;
  /** By the version of Node. */
  programRuns: Record<string, number>;
  programPeakMib: number;
  peakMib: number;
  slowestMs: number;
  found: { path: Path; fault: Fault }[];
  /** Inputs whose judging took more memory than this process should; the program's own figure has the last word. */
  heavy: Path[];
  reached: { part: number; never: string[] };
};

const NEWS_MS = 1_000;
const POOL = 400;
/** Looking what ran takes as long as judging some inputs. */
const LOOK_EVERY = 16;
const FROM_POOL = 0.5;
const TURN_EVERY = 20;
const MIB = 1_048_576;
/** Longer than any path: what was written before must not stand behind it. */
const PROGRESS_BYTES = 4_096;

// Before anybody else's where memory runs out.
writeFileSync("/proc/self/oom_score_adj", "1000");
const task = JSON.parse(process.argv[2]!) as WorkerTask;
const samples = deserialize(readFileSync(task.samplesFile)) as Samples;
const maker = new InputMaker(samples, task.seed);
const honest = new HonestContent(samples);
const coverage = new Coverage("/verifier/src/");
// Not before: what is loaded earlier is told by function alone.
const { faultOf, judged } = await import("./judged.ts");
const judge: Judge =
  task.judge === "verifier"
    ? judged
    : (await import("./broken-judges.ts")).BROKEN_JUDGES[task.judge];
// What ran when it was loaded is no input's.
coverage.isNew(true);
const progress = openSync(task.progressFile, "w");
const pool: { path: Path; made: Made }[] = [];
const batch: { path: Path; made: Made; input: Input }[] = [];
const choice = new Dice(task.seed + task.first);
let news = noNews();
let toldAt = performance.now();
let compared = task.first;

if (task.only !== null) {
  const { made, input } = maker.at(task.only);
  await evaluateOne(task.only, made.kind, input, true);
  tell();
  process.disconnect!();
} else
  for (let number = task.first, count = 0; ; number += task.stride, count++) {
    const from = pool.length > 0 && choice.chance(FROM_POOL) ? choice.pick(pool) : null;
    const path = [...(from?.path ?? []), number];
    noteProgress(path);
    const { made, input } = maker.next(number, from?.made ?? null);
    await evaluateOne(
      path,
      made.kind,
      input,
      task.program !== null && count % task.program.every === 0,
    );
    batch.push({ path, made, input });
    if (batch.length === LOOK_EVERY) await keepNew(batch.splice(0));
    if (performance.now() - toldAt > NEWS_MS) tell();
    if (count % TURN_EVERY === 0) await turn();
  }

async function evaluateOne(
  path: Path,
  kind: string,
  input: Input,
  alsoByProgram: boolean,
): Promise<void> {
  const answer = await tried(path, input);
  const code = answer?.code ?? "none";
  news.byKind[kind] = (news.byKind[kind] ?? 0) + 1;
  news.byCode[code] = (news.byCode[code] ?? 0) + 1;
  if (answer !== null && alsoByProgram && task.program !== null)
    await compare(path, input, answer, task.program);
  noteMemory(path);
}

async function tried(path: Path, input: Input): Promise<Judged | null> {
  const from = performance.now();
  try {
    const answer = await judge(input);
    const fault = faultOf(answer) ?? (answer.code === 0 ? honest.objection(input) : null);
    if (fault !== null) found(path, { what: "wrong", said: fault });
    return answer;
  } catch (error) {
    found(path, { what: "crash", said: messageOf(error) });
    return null;
  } finally {
    news.slowestMs = Math.max(news.slowestMs, performance.now() - from);
  }
}

/** When some of a batch came where none had been, each is judged again by itself, and those that did are changed further. */
async function keepNew(judgedOnes: typeof batch): Promise<void> {
  if (!coverage.isNew(false)) return;
  for (const { path, made, input } of judgedOnes) {
    noteProgress(path);
    await judge(input).catch(() => null);
    if (coverage.isNew(true)) pool.push({ path, made });
  }
  if (pool.length > POOL) pool.splice(0, pool.length - POOL);
}

/** The program in a process of its own must say the same. */
async function compare(
  path: Path,
  input: Input,
  answer: Judged,
  { path: program, nodes }: NonNullable<WorkerTask["program"]>,
): Promise<void> {
  const { version, path: node } = nodes[compared++ % nodes.length]!;
  const run = await runProgram(program, input, join(task.folder, "program"), node);
  news.programRuns[version] = (news.programRuns[version] ?? 0) + 1;
  news.programPeakMib = Math.max(news.programPeakMib, run.peakMib ?? 0);
  const fault = faultOfRun(run, bytesOf(input));
  if (fault !== null) return found(path, fault);
  const report: unknown = run.stdout === "" ? null : JSON.parse(run.stdout);
  const expected: unknown =
    answer.report === null
      ? null
      : JSON.parse(JSON.stringify({ ...answer.report, exitCode: answer.code }));
  if (run.code !== answer.code || !isDeepStrictEqual(report, expected))
    found(path, {
      what: "wrong",
      said: `the program ends with ${run.code} under Node ${version}, its code with ${answer.code}`,
    });
}

function found(path: Path, fault: Fault): void {
  news.found.push({ path, fault });
  tell();
}

function noteProgress(path: Path): void {
  writeSync(progress, JSON.stringify(path).padEnd(PROGRESS_BYTES), 0);
}

function noteMemory(path: Path): void {
  const peakMib =
    Number(/VmHWM:\s+(\d+)/.exec(readFileSync("/proc/self/status", "utf8"))![1]) / 1_024;
  news.peakMib = Math.max(news.peakMib, peakMib);
  if (peakMib <= WORKER_RSS_MIB) return;
  news.heavy.push(path);
  // The next one is measured for itself.
  writeFileSync("/proc/self/clear_refs", "5");
  if (process.memoryUsage.rss() / MIB > WORKER_RSS_MIB) globalThis.gc?.();
}

function tell(): void {
  process.send!({ ...news, reached: coverage.reached } satisfies WorkerNews);
  news = noNews();
  toldAt = performance.now();
}

function noNews(): Omit<WorkerNews, "reached"> {
  return {
    byKind: {},
    byCode: {},
    programRuns: {},
    programPeakMib: 0,
    peakMib: 0,
    slowestMs: 0,
    found: [],
    heavy: [],
  };
}

/** The message and where it comes from, without this harness's own frames. */
function messageOf(error: unknown): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const lines = stack
    .split("\n")
    .map((line) => line.trim().replace(/file:\/\/\S*\/(?=[^/]+$)/, ""));
  return lines
    .filter((line) => !line.includes("node:internal"))
    .slice(0, 4)
    .join(" | ")
    .slice(0, 600);
}
