/**
 * How many events a second auditd makes durable, beside what the same disk can sync, in the same run.
 * One producer keeps a number of events under way; latency is from the call to the durable acknowledgement.
 */
import { type ChildProcess, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, fdatasyncSync, fsyncSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { exportLog } from "@resontech/audit/export";
import { type AuditProducer, connectProducer } from "@resontech/audit/producer";
import type { AuditdConfig } from "@resontech/contracts/auditd-config";
import { logDirOf, makeAuditdConfig, startAuditd, temporaryRoot } from "./audit/auditd-instance.ts";
import type { ProofContext, ProofResult } from "./proof.ts";

const VERIFIER = fileURLToPath(import.meta.resolve("@resontech/audit/verifier"));
const MEASURE_MS = 10_000;
const IN_FLIGHT = 256;
const IDLE_EVENTS = 1_000;
const CHECKPOINT_EVENTS = 20;
const RAW_SYNCS = 2_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const root = temporaryRoot();
  let auditd: ChildProcess | null = null;
  try {
    progress("the disk alone");
    const rawSyncsPerS = measureRawSyncs(root);
    const config = makeAuditdConfig(root);
    auditd = await startAuditd(root, config);
    const producer = await connectProducer({ socketPath: config.producers[0]!.socket, boot: crypto.randomUUID() });
    progress("one event at a time");
    await measureIdle(producer); // Warm-up of both processes' compilers.
    const idle = await measureIdle(producer);
    progress("event to signed checkpoint");
    const signedMs = await measureCheckpoints(producer);
    progress(`${IN_FLIGHT} events under way for ${MEASURE_MS / 1000} s`);
    const load = await measureLoad(producer);
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
      fdatasync_per_s: Math.round(load.syncsPerS),
      raw_fdatasync_per_s: Math.round(rawSyncsPerS),
      fdatasync_ratio_to_raw: round(load.syncsPerS / rawSyncsPerS),
      events_ratio_to_raw_fdatasync: round(load.eventsPerS / rawSyncsPerS),
      idle_ack_p50_ms: idle.p50Ms,
      idle_ack_p99_ms: idle.p99Ms,
      idle_ack_p50_in_raw_fdatasyncs: round((idle.p50Ms / 1000) * rawSyncsPerS),
      event_to_checkpoint_p99_ms: quantile(signedMs, 0.99),
      log_entries: covered.checkpointSize,
      ...verified,
    };
    return { ok: load.p99Ms <= 50 && load.eventsPerS >= 10_000 && verified.verify_exit === 0, figures };
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
  for (let n = 0; n < RAW_SYNCS; n++) writeSync(fd, Buffer.alloc(block.length), 0, block.length, n * block.length);
  fsyncSync(fd);
  const startedAt = performance.now();
  for (let n = 0; n < RAW_SYNCS; n++) {
    writeSync(fd, block, 0, block.length, n * block.length);
    fdatasyncSync(fd);
  }
  const seconds = (performance.now() - startedAt) / 1000;
  closeSync(fd);
  return RAW_SYNCS / seconds;
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

async function measureIdle(producer: AuditProducer): Promise<{ p50Ms: number; p99Ms: number }> {
  const times: number[] = [];
  for (let n = 0; n < IDLE_EVENTS; n++) {
    await oneOperation(producer, times);
  }
  return { p50Ms: quantile(times, 0.5), p99Ms: quantile(times, 0.99) };
}

async function measureCheckpoints(producer: AuditProducer): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < CHECKPOINT_EVENTS; n++) {
    const startedAt = performance.now();
    await oneOperation(producer, []);
    const index = producer.highestAck?.index ?? 0;
    while ((await producer.status()).checkpointSize <= index) await new Promise((resolve) => setTimeout(resolve, 2));
    times.push(performance.now() - startedAt);
  }
  return times;
}

async function measureLoad(
  producer: AuditProducer,
): Promise<{ eventsPerS: number; p50Ms: number; p99Ms: number; eventsPerSync: number; syncsPerS: number }> {
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
    p50Ms: quantile(times, 0.5),
    p99Ms: quantile(times, 0.99),
    eventsPerSync: times.length / syncs,
    syncsPerS: syncs / seconds,
  };
}

async function measureVerify(
  root: string,
  config: AuditdConfig,
): Promise<{ verify_exit: number | null; verify_entries_per_s: number; export_bytes: number }> {
  const file = join(root, "export.tar");
  const { size } = await exportLog({ logDir: logDirOf(config), file });
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, [
    VERIFIER,
    file,
    "--policy",
    config.policyFile,
    "--require",
    "SIGNATURE,INTEGRITY",
  ]);
  const seconds = (performance.now() - startedAt) / 1000;
  return { verify_exit: status, verify_entries_per_s: Math.round(size / seconds), export_bytes: statSync(file).size };
}

function quantile(times: readonly number[], share: number): number {
  const sorted = [...times].sort((a, b) => a - b);
  return round(sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0);
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
