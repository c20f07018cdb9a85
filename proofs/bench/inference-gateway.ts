/**
 * What the gateway of deployments costs, with every call on record before its answer leaves: the engine alone beside gateway, bridge and engine,
 * and beside two gateways of others that keep no record, all with the same clients, in turns. Then how soon an engine is free when its callers hang
 * up, beside an engine that was idle, and what of an engine is reached at all.
 *
 *     npm run prove -- inference-gateway [ROUNDS]
 */
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { type ClientRequest, type IncomingMessage, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { llamaPython } from "@resontech/house/llama-python";
import { startLlama } from "@resontech/inference-gateway/testing/llama-replica";
import { RunningGateway } from "@resontech/inference-gateway/testing/running-gateway";
import type { LoadPlan, LoadReport, LoadTarget } from "./inference-gateway/load.ts";
import { startLitellm, startPortkey } from "./inference-gateway/peers.ts";
import { timeDiskSyncs } from "./measure/disk-sync.ts";
import { seededRandom } from "@resontech/house/seeded-random";
import { quantile } from "../statistics.ts";
import { bench, byRound } from "./measure/bench.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { freePort } from "@resontech/house/free-port";

const run = promisify(execFile);
const KEY = "rpk_the-key-of-this-proof";
const ENGINE_MS = 5;
const STREAMS = 32;
const SECONDS = 6;
/** Goals of the design. */
const MOST_ADDED_P50_MS = 0.3;
const MOST_ADDED_P99_MS = 1;
const LEAST_SHARE = 0.6;
const MOST_FREE_P99_MS = 1_000;
/** A round in which the host took more of the processors than this is measured again: it says how the host was. */
const MOST_STOLEN = 0.1;
/** Of the disk alone. */
const SYNCS = 2_000;
const ABORTED = 120;
const SLOTS = 2;

type Side = { name: string; target: LoadTarget };

export default async function prove(context: ProofContext): Promise<ProofResult> {
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "rtp-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const cost = await measureCost(context, join(dir, "a"));
  const { free, idle, freed, reached } = await measureEngine(context, join(dir, "b"));
  const isMet = {
    added_p50: cost.gateway.added_p50_ms.median <= MOST_ADDED_P50_MS,
    added_p99: cost.gateway.added_p99_ms.median <= MOST_ADDED_P99_MS,
    share: cost.gateway.share.median >= LEAST_SHARE,
    free: freed.p99_ms <= MOST_FREE_P99_MS,
    reached: reached.length === 0,
  };
  const met = Object.entries(isMet).filter(([, is]) => is);
  return {
    ok: met.length === Object.keys(isMet).length,
    figures: {
      ...{ engine_ms: ENGINE_MS, streams: STREAMS, ...cost, free, idle, freed, reached },
      met: met.map(([name]) => name),
      missed: Object.keys(isMet).filter((name) => !met.some(([other]) => other === name)),
    },
  };
}

async function measureCost({ progress, args }: ProofContext, dir: string) {
  const rounds = Number(args[0] ?? 5);
  mkdirSync(dir);
  const syncs = timeDiskSyncs(dir, SYNCS);
  const syncAt = (share: number): number => Math.round(100 * quantile(syncs, share)) / 100;
  await using stack = new AsyncDisposableStack();
  const engine = spawn(
    process.execPath,
    [join(import.meta.dirname, "inference-gateway/measured-engine.ts"), String(ENGINE_MS)],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  stack.defer(() => end(engine));
  const port = Number(await firstLine(engine));
  const gateway = stack.use(
    await RunningGateway.open(
      dir,
      port,
      [{ deployment: "job-1", name: "m", api: "openai", maxOngoingRequests: 256, key: KEY }],
      { isOwnProcess: true },
    ),
  );
  progress("other gateways are installed once");
  const peers = [
    stack.use(await startLitellm(dir, port)),
    stack.use(await startPortkey(dir, port)),
  ];
  const own: Side = {
    name: "gateway",
    target: { socketPath: gateway.socket, headers: { authorization: `Bearer ${KEY}` } },
  };
  const direct: Side = { name: "direct", target: { port, headers: {} } };
  const sides = [direct, own, ...peers.map(({ name, target }) => ({ name, target }))];
  const one = await loadInTurns(sides, rounds, { streams: 1, ratePerS: null }, progress);
  const many = await loadInTurns(sides, rounds, { streams: STREAMS, ratePerS: null }, progress);
  const highest = quantile(
    many.reports["gateway"]!.map(({ per_s }) => per_s),
    0.5,
  );
  const half = await loadInTurns(
    [direct, own],
    rounds,
    { streams: STREAMS, ratePerS: highest / 2 },
    progress,
  );
  const of = (name: string) => {
    const compare = ({ reports }: Reports, by: (of: LoadReport, beside: LoadReport) => number) =>
      byRound(reports[name]!, reports["direct"]!, by, 3);
    return {
      added_p50_ms: compare(one, (its, beside) => its.p50_ms - beside.p50_ms),
      share: compare(many, (its, beside) => its.per_s / beside.per_s),
      per_s: Math.round(
        quantile(
          many.reports[name]!.map(({ per_s }) => per_s),
          0.5,
        ),
      ),
      failed: [...one.reports[name]!, ...many.reports[name]!].reduce(
        (sum, { failed }) => sum + failed,
        0,
      ),
    };
  };
  const added = byRound(
    half.reports["gateway"]!,
    half.reports["direct"]!,
    (own, beside) => own.p99_ms - beside.p99_ms,
    3,
  );
  return {
    gateway: { ...of("gateway"), added_p99_ms: added, half_rate_per_s: highest / 2 },
    direct_per_s: of("direct").per_s,
    disk_sync: { p50_ms: syncAt(0.5), p99_ms: syncAt(0.99) },
    ...{ litellm: of("litellm"), portkey: of("portkey") },
    rounds_repeated: one.repeated + many.repeated + half.repeated,
  };
}

type Reports = { reports: Record<string, LoadReport[]>; repeated: number };

async function loadInTurns(
  sides: readonly Side[],
  rounds: number,
  plan: Pick<LoadPlan, "streams" | "ratePerS">,
  progress: ProofContext["progress"],
): Promise<Reports> {
  const contestants = sides.map(
    ({ name, target }) =>
      [name, { measure: () => load({ ...target, ...plan, seconds: SECONDS }) }] as const,
  );
  const { measured, repeated } = await bench<Record<string, LoadReport>>(
    Object.fromEntries(contestants),
    {
      ...{ rounds, mostStolen: MOST_STOLEN },
      told: (reports) =>
        progress(
          Object.entries(reports)
            .map(([name, { per_s, p50_ms, p99_ms }]) =>
              [name, `${per_s.toFixed(0)}/s`, p50_ms.toFixed(2), p99_ms.toFixed(2)].join(" "),
            )
            .join(", "),
        ),
    },
  );
  return { reports: measured, repeated };
}

async function load(plan: LoadPlan): Promise<LoadReport> {
  const program = join(import.meta.dirname, "inference-gateway/load.ts");
  const { stdout } = await run(process.execPath, [program, JSON.stringify(plan)]);
  return JSON.parse(stdout) as LoadReport;
}

/** Of a real engine: when it is free again after its callers hung up, and which of its own paths can be called. */
async function measureEngine({ progress }: ProofContext, dir: string) {
  mkdirSync(dir);
  await using stack = new AsyncDisposableStack();
  const { python, weights } = await llamaPython();
  const port = await freePort();
  const replica = stack.use(
    startLlama(python, join(dir, "replica"), { modelPath: weights, port, slots: SLOTS }),
  );
  await replica.ready();
  const gateway = stack.use(
    await RunningGateway.open(
      dir,
      port,
      [{ deployment: "job-1", name: "m", api: "openai", maxOngoingRequests: SLOTS, key: KEY }],
      { isOwnProcess: true },
    ),
  );
  const random = seededRandom(1);
  const tookMs: number[] = [];
  const idleMs: number[] = [];
  // The engine's first calls take longer.
  await callAll(gateway.socket);
  for (let at = 0; at < ABORTED; at++) {
    // One more than there are slots: it waits.
    const calls = Array.from({ length: SLOTS + 1 }, () =>
      ask(gateway.socket, "POST", "/v1/chat/completions", {
        ...{ model: "m", stream: random() < 0.5, max_tokens: 400, temperature: 0 },
        messages: [{ role: "user", content: "a long story of a dog ".repeat(1 + 60 * random()) }],
      }),
    );
    // Within it some prompts are read, some answers have begun.
    await sleep(50 + 1_000 * random());
    for (const call of calls) call.destroy();
    tookMs.push(await callAll(gateway.socket));
    idleMs.push(await callAll(gateway.socket));
    if (at % 20 === 19)
      progress(`${at + 1} times hung up, free after ${tookMs.at(-1)?.toFixed(0)} ms`);
  }
  const reached: string[] = [];
  for (const [method, path] of PATHS)
    for (const prefix of ["", "/v1", "/inference/job-1", "/inference/job-1/v1"]) {
      const asked = ask(gateway.socket, method, `${prefix}${path}`, method === "GET" ? null : {});
      const { status } = await answerOf(asked);
      if (![400, 401, 404, 405].includes(status)) reached.push(`${method} ${prefix}${path}`);
    }
  const usualMs = quantile(idleMs, 0.5);
  return {
    free: { ...{ hang_ups: ABORTED, calls_each: SLOTS + 1 }, ...timesOf(tookMs) },
    idle: timesOf(idleMs),
    // What the hang-up adds to the time that these calls take anyway.
    freed: timesOf(tookMs.map((ms) => ms - usualMs)),
    reached,
    paths_tried: PATHS.length * 4,
  };
}

/** A call of one token in every slot: how long until all are answered, milliseconds. */
async function callAll(socketPath: string): Promise<number> {
  const from = performance.now();
  const calls = Array.from({ length: SLOTS }, () =>
    answerOf(
      ask(socketPath, "POST", "/v1/chat/completions", {
        ...{ model: "m", max_tokens: 1, temperature: 0 },
        messages: [{ role: "user", content: "a" }],
      }),
    ),
  );
  const answers = await Promise.all(calls);
  if (answers.some(({ status }) => status !== 200))
    throw new Error(`a call of one token failed: ${JSON.stringify(answers)}`);
  return performance.now() - from;
}

function timesOf(ms: readonly number[]): { p50_ms: number; p99_ms: number; max_ms: number } {
  const at = (share: number) => Math.round(quantile(ms, share));
  return { p50_ms: at(0.5), p99_ms: at(0.99), max_ms: Math.round(Math.max(...ms)) };
}

/** Of llama.cpp and vLLM: what changes an engine, tells of other calls, or passes by the sandbox's limits. */
const READ = [
  ...["/slots", "/props", "/metrics", "/lora-adapters", "/index.html", "/load", "/version"],
  ...["/server_info", "/is_sleeping", "/ping", "/docs", "/openapi.json", "/../slots"],
  "/%2e%2e/slots",
];
const POSTED = [
  ...["/slots/0?action=save", "/props", "/completion", "/tokenize", "/detokenize", "/infill"],
  ...["/apply-template", "/lora-adapters", "/models/load", "/models/unload", "/embedding"],
  ...["/load_lora_adapter", "/unload_lora_adapter", "/sleep", "/wake_up", "/collective_rpc"],
  ...["/invocations", "/pause", "/resume", "/update_weights", "/reset_prefix_cache"],
  ...["/start_profile", "/pooling", "/score", "/rerank", "/messages", "/audio/transcriptions"],
];
const PATHS = [
  ...READ.map((path) => ["GET", path] as const),
  ...POSTED.map((path) => ["POST", path] as const),
];

function ask(socketPath: string, method: string, path: string, body: object | null): ClientRequest {
  const asked = request({
    ...{ socketPath, method, path },
    headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
  });
  asked.on("error", () => {});
  asked.end(body === null ? "" : JSON.stringify(body));
  return asked;
}

async function answerOf(asked: ClientRequest): Promise<{ status: number; body: string }> {
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  return { status: from.statusCode ?? 0, body: await text(from) };
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error("the program ended without a word");
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill("SIGKILL");
  await once(child, "exit");
}
