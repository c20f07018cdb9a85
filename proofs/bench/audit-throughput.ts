/**
 * How many events a second auditd makes durable, beside what the same disk can sync and what a POSIX Tessera log does with as many entries of that size
 * under way, in turns; and how quickly the verifier reads them, and alone hashes and compares them, beside SHA-256 alone over the same leaves.
 * One producer keeps a number of events under way; latency is from the call to the durable acknowledgement. Needs Go and its module proxy or cache.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { hash } from "node:crypto";
import { once } from "node:events";
import {
  closeSync,
  fdatasyncSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportLog } from "@resontech/audit/export";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import {
  ArchiveReader,
  Integrity,
  MAX_NOTE_BYTES,
  nodePlatform,
  parseCheckpoint,
  piecesOf,
} from "@resontech/verifier/judge";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { build } from "esbuild";
import {
  logDirOf,
  makeAuditdConfig,
  startAuditd,
  temporaryRoot,
} from "../audit/instances/auditd-instance.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { bench, byRound } from "./measure/bench.ts";

const VERIFIER = fileURLToPath(import.meta.resolve("@resontech/verifier/main"));
/** Of each turn. */
const MEASURE_MS = 6_000;
const TURNS = 5;
const IN_FLIGHT = 256;
/** Of each turn; as many syncs of the disk alone beside them. */
const IDLE_EVENTS = 400;
const CHECKPOINT_EVENTS = 20;
/** As long as the events of this proof are. */
const ENTRY_BYTES = 600;
/** The verifier's own memory, which it says nothing of; what the runtime calls its maximum counts the process that started it as well. */
const PRINT_PEAK = `data:text/javascript,${encodeURIComponent(`import { readFileSync, writeSync } from "node:fs";
process.on("exit", () => writeSync(2, /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1] + " KiB at most"));`)}`;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  try {
    const config = makeAuditdConfig(root);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({
      socketPath: config.producers[0]!.socket,
      boot: crypto.randomUUID(),
    });
    await measureIdle(producer); // Warm-up of both processes' compilers.
    await measureIdle(producer);
    progress("one event at a time, beside the disk alone");
    const alone = await bench<{ event: Acked; disk: number }>(
      {
        event: { measure: () => measureIdle(producer) },
        disk: { measure: async () => measureRawSyncs(root) },
      },
      { rounds: TURNS },
    );
    const idles = alone.measured.event.map((acked, turn) => ({
      ...{ ...acked, rawSyncsPerS: alone.measured.disk[turn]! },
    }));
    const idle = idles.toSorted((a, b) => inRawSyncs(a) - inRawSyncs(b))[Math.floor(TURNS / 2)]!;
    const rawSyncsPerS = idle.rawSyncsPerS;
    progress("event to signed checkpoint");
    const signedMs = await measureCheckpoints(producer);
    const peer = buildPeer(root);
    progress(`${IN_FLIGHT} events under way for ${MEASURE_MS / 1000} s, beside Tessera`);
    const {
      measured: { auditd: loads, tessera: peers },
    } = await bench<{ auditd: Load; tessera: PeerLoad }>(
      {
        auditd: { measure: () => measureLoad(producer) },
        tessera: { measure: async (turn) => measurePeer(peer, join(root, `peer-${turn}`)) },
      },
      {
        rounds: TURNS,
        told: (load, turn) =>
          progress(
            `  ${turn + 1} of ${TURNS}: ${load.auditd.eventsPerS.toFixed(0)}/s, Tessera ${load.tessera.entriesPerS.toFixed(0)}/s`,
          ),
      },
    );
    const load = byMedian(loads);
    const covered = await producer.covered((await producer.status()).size - 1);
    await producer.close();
    progress("verify all of it offline");
    const verified = await measureVerify(root, config);
    const figures = {
      events_per_s: Math.round(load.eventsPerS),
      ack_p50_ms: load.p50Ms,
      ack_p99_ms: load.p99Ms,
      in_flight: IN_FLIGHT,
      events_per_fdatasync: round(load.eventsPerSync),
      tessera_events_per_s: Math.round(byMedian(peers).entriesPerS),
      tessera_p99_ms: round(byMedian(peers).p99Ms),
      ratio_to_tessera: byRound(
        loads,
        peers,
        ({ eventsPerS }, { entriesPerS }) => eventsPerS / entriesPerS,
      ),
      fdatasync_per_s: Math.round(load.syncsPerS),
      raw_fdatasync_per_s: Math.round(rawSyncsPerS),
      fdatasync_ratio_to_raw: round(load.syncsPerS / rawSyncsPerS),
      events_ratio_to_raw_fdatasync: round(load.eventsPerS / rawSyncsPerS),
      idle_ack_p50_ms: idle.p50Ms,
      idle_ack_p99_ms: idle.p99Ms,
      idle_ack_p50_in_raw_fdatasyncs: round(inRawSyncs(idle)),
      idle_ack_in_raw_fdatasyncs_by_turn: idles.map((one) => round(inRawSyncs(one))),
      event_to_checkpoint_p99_ms: round(quantile(signedMs, 0.99)),
      log_entries: covered.checkpointSize,
      ...verified,
    };
    const goals = {
      "events_per_s >= 10,000": load.eventsPerS >= 10_000,
      "ack_p99_ms <= 50": load.p99Ms <= 50,
      "ratio_to_tessera >= 1": figures.ratio_to_tessera.median >= 1,
      "idle_ack_p50_in_raw_fdatasyncs <= 3": figures.idle_ack_p50_in_raw_fdatasyncs <= 3,
      "event_to_checkpoint_p99_ms <= 1,000": figures.event_to_checkpoint_p99_ms <= 1_000,
      "integrity_ratio_to_sha256 >= 0.70": verified.integrity_ratio_to_sha256 >= 0.7,
      "verify_ratio_to_sha256 >= 0.20": verified.verify_ratio_to_sha256 >= 0.2,
      "verify_peak_mib <= 256": verified.verify_peak_mib <= 256,
      "verify_exit = 0": verified.verify_exit === 0,
    };
    return { ok: Object.values(goals).every((isMet) => isMet), figures: { goals, ...figures } };
  } finally {
    if (auditd !== null && auditd.exitCode === null) {
      auditd.kill("SIGTERM");
      await once(auditd, "exit");
    }
    rmSync(root, { recursive: true, force: true });
  }
}

/** Appends 16 KiB to preallocated space and syncs, one after the other: what the write-ahead log does, without anything else. */
function measureRawSyncs(root: string): number {
  const fd = openSync(join(root, "raw"), "w");
  const block = Buffer.alloc(16_384, 0x61);
  for (let n = 0; n < IDLE_EVENTS; n++)
    writeSync(fd, Buffer.alloc(block.length), 0, block.length, n * block.length);
  fsyncSync(fd);
  const startedAt = performance.now();
  for (let n = 0; n < IDLE_EVENTS; n++) {
    writeSync(fd, block, 0, block.length, n * block.length);
    fdatasyncSync(fd);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(fd);
  return IDLE_EVENTS / seconds;
}

/** What every API call with an effect writes: one `requested`, one outcome; each event is timed. */
async function oneOperation(producer: AuditProducer, times: number[]): Promise<void> {
  const request = {
    type: "job.submit" as const,
    op: crypto.randomUUID(),
    actor: { sub: "usr-0a1b2c3d", kind: "user" as const, roles: ["researcher"] },
    action: "POST /api/tasks",
    object: { kind: "job" as const, id: "job-0a1b2c3d4e5f" },
    detail: { shards: 2, inputs: 9, input_bytes: 123_456_789 },
  };
  const requestedAt = performance.now();
  await producer.requested(request);
  const doneAt = performance.now();
  await producer.outcome({
    ...request,
    phase: "completed",
    outcome: { code: "ok", status: 200 },
  });
  times.push(doneAt - requestedAt, performance.now() - doneAt);
}

/** How long acknowledgements took. */
type Acked = { p50Ms: number; p99Ms: number };
type Idle = Acked & { rawSyncsPerS: number };

function ackedIn(times: readonly number[]): Acked {
  return { p50Ms: round(quantile(times, 0.5)), p99Ms: round(quantile(times, 0.99)) };
}

function inRawSyncs({ p50Ms, rawSyncsPerS }: Idle): number {
  return (p50Ms / 1000) * rawSyncsPerS;
}

async function measureIdle(producer: AuditProducer): Promise<Acked> {
  const times: number[] = [];
  for (let n = 0; n < IDLE_EVENTS; n++) {
    await oneOperation(producer, times);
  }
  return ackedIn(times);
}

async function measureCheckpoints(producer: AuditProducer): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < CHECKPOINT_EVENTS; n++) {
    const startedAt = performance.now();
    await oneOperation(producer, []);
    const index = producer.highestAck?.index ?? 0;
    while ((await producer.status()).checkpointSize <= index)
      await new Promise((resolve) => setTimeout(resolve, 2));
    times.push(performance.now() - startedAt);
  }
  return times;
}

type Load = Acked & {
  eventsPerS: number;
  eventsPerSync: number;
  syncsPerS: number;
};

async function measureLoad(producer: AuditProducer): Promise<Load> {
  const times: number[] = [];
  const before = await producer.status();
  const startedAt = performance.now();
  const until = startedAt + MEASURE_MS;
  const keepOneUnderWay = async (): Promise<void> => {
    while (performance.now() < until) {
      await oneOperation(producer, times);
    }
  };
  await Promise.all(Array.from({ length: IN_FLIGHT }, keepOneUnderWay));
  const seconds = (performance.now() - startedAt) / 1000;
  const syncs = (await producer.status()).batches - before.batches;
  return {
    eventsPerS: times.length / seconds,
    ...ackedIn(times),
    eventsPerSync: times.length / syncs,
    syncsPerS: syncs / seconds,
  };
}

type PeerLoad = { entriesPerS: number; p50Ms: number; p99Ms: number };

function buildPeer(root: string): string {
  const program = join(root, "tessera");
  const built = spawnSync("go", ["build", "-o", program, "."], {
    cwd: join(import.meta.dirname, "audit-throughput/go"),
    encoding: "utf8",
  });
  if (built.status !== 0) throw new Error(`go build: ${built.stderr}`);
  return program;
}

function measurePeer(program: string, folder: string): PeerLoad {
  const args = [folder, IN_FLIGHT, MEASURE_MS / 1000, ENTRY_BYTES].map(String);
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`tessera: ${stderr}`);
  rmSync(folder, { recursive: true });
  return JSON.parse(stdout) as PeerLoad;
}

/** The one in the middle by its rate. */
function byMedian<T extends { eventsPerS: number } | { entriesPerS: number }>(
  all: readonly T[],
): T {
  const rate = (one: T): number => ("eventsPerS" in one ? one.eventsPerS : one.entriesPerS);
  return [...all].sort((a, b) => rate(a) - rate(b))[Math.floor(all.length / 2)]!;
}

type Verified = {
  verify_exit: number | null;
  verify_entries_per_s: number;
  integrity_entries_per_s: number;
  sha256_entries_per_s: number;
  sha256_as_text_entries_per_s: number;
  verify_ratio_to_sha256: number;
  integrity_ratio_to_sha256: number;
  integrity_ratio_by_turn: number[];
  verify_peak_mib: number;
  export_bytes: number;
};

/** In turns, because the machine's rate changes: each figure is the median of its own, each ratio of what was measured in one turn. */
async function measureVerify(root: string, config: AuditdConfig): Promise<Verified> {
  const file = join(root, "export.tar");
  const program = join(root, "sov-verify.mjs");
  await buildVerifier(program);
  const { size } = await exportLog({ logDir: logDirOf(config), file });
  const bundles = readBundles(logDirOf(config));
  const verify = (): VerifyRun => {
    const startedAt = performance.now();
    const { status, stderr } = spawnSync(process.execPath, [
      ...["--import", PRINT_PEAK],
      program,
      file,
      "--policy",
      config.policyFile,
      "--require",
      "SIGNATURE,INTEGRITY",
    ]);
    const peakKiB = /(\d+) KiB at most/.exec(String(stderr))?.[1] ?? Number.POSITIVE_INFINITY;
    return {
      perS: size / ((performance.now() - startedAt) / 1000),
      exit: status,
      peakMib: Number(peakKiB) / 1024,
    };
  };
  const { measured: turns } = await bench<{
    verify: VerifyRun;
    integrity: number;
    sha256: number;
    sha256AsText: number;
  }>(
    {
      verify: { measure: async () => verify() },
      integrity: { measure: () => measureIntegrity(file) },
      sha256: { measure: async () => measureSha256(bundles, "buffer") },
      sha256AsText: { measure: async () => measureSha256(bundles, "latin1") },
    },
    { rounds: TURNS },
  );
  const verified = turns.verify.map(({ perS }) => perS);
  const rate = (values: readonly number[]): number => Math.round(quantile(values, 0.5));
  const beside = (values: readonly number[]): number =>
    byRound(values, turns.sha256, (own, hashed) => own / hashed).median;
  return {
    verify_exit: turns.verify.find(({ exit }) => exit !== 0)?.exit ?? 0,
    verify_entries_per_s: rate(verified),
    integrity_entries_per_s: rate(turns.integrity),
    sha256_entries_per_s: rate(turns.sha256),
    sha256_as_text_entries_per_s: rate(turns.sha256AsText),
    verify_ratio_to_sha256: beside(verified),
    integrity_ratio_to_sha256: beside(turns.integrity),
    integrity_ratio_by_turn: turns.integrity.map((perS, turn) => round(perS / turns.sha256[turn]!)),
    verify_peak_mib: Math.round(Math.max(...turns.verify.map(({ peakMib }) => peakMib))),
    export_bytes: statSync(file).size,
  };
}

type VerifyRun = { perS: number; exit: number | null; peakMib: number };

/** One file, as it is released. */
async function buildVerifier(outfile: string): Promise<void> {
  await build({
    entryPoints: [VERIFIER],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
    keepNames: true,
  });
}

/** What the verifier does for INTEGRITY, by its own code: the export read, each entry and node hashed, each tile compared; entries are not looked into. */
async function measureIntegrity(file: string): Promise<number> {
  const startedAt = performance.now();
  const reader = new ArchiveReader(piecesOf(file));
  const checkpoint = parseCheckpoint(
    await reader.member("checkpoint", MAX_NOTE_BYTES),
    "the checkpoint",
  );
  const { verdict, reason } = await new Integrity(reader, nodePlatform).verdict(checkpoint);
  await reader.close();
  if (verdict !== "PASS") throw new Error(`INTEGRITY ${verdict}: ${reason}`);
  return checkpoint.size / ((performance.now() - startedAt) / 1000);
}

/** The full bundles, `u16 length ‖ leaf` for each entry. */
function readBundles(logDir: string): Buffer[] {
  const folder = join(logDir, "tile/entries");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) =>
    /(^|\/)\d{3}$/.test(name),
  );
  return files.map((name) => readFileSync(join(folder, name)));
}

/** One hash for each leaf, and nothing else. A digest as a text costs the runtime less than one as a buffer. */
function measureSha256(bundles: readonly Buffer[], encoding: "buffer" | "latin1"): number {
  let leaves = 0;
  const startedAt = performance.now();
  for (const bundle of bundles)
    for (let at = 0; at < bundle.length; leaves++) {
      const end = at + 2 + bundle.readUInt16BE(at);
      hash("sha256", bundle.subarray(at + 1, end), encoding);
      at = end;
    }
  return leaves / ((performance.now() - startedAt) / 1000);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
