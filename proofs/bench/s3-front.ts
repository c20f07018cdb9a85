/**
 * What the S3 front costs: the engine alone (its own TLS on TCP) beside front and engine, alternating in one run, both with the same clients.
 * A round in which the host of a virtual machine took more than a tenth of its processors is measured again, and counted.
 * Clients are one `curl` for each stream, so that theirs is not the slowest thread. Then one large object in parts, with the completion that
 * puts them together, and at last a bucket that 32 writers fill.
 *
 *     npm run prove -- s3-front [ROUNDS]
 */
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { S3ObjectStore } from "@resontech/coordinator/object-store";
import { S3Transport } from "@resontech/coordinator/s3-transport";
import { type S3Engine, startS3Engine } from "@resontech/coordinator/testing/s3-engine";
import { RunningFront } from "@resontech/s3-front/testing/running-front";
import { quantile } from "../statistics.ts";
import { bench, byRound } from "./measure/bench.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const run = promisify(execFile);
const MIB = 1024 ** 2;
const OBJECT_BYTES = 64 * MIB;
const STREAMS = [1, 8, 32] as const;
/** One upload in parts of {@link OBJECT_BYTES}, so many at a time. */
const MULTIPART = { parts: 48, streams: 8 };
/** The engine says nothing while it puts the parts together. */
const COMPLETION_LIMIT_MS = 15 * 60_000;
/** What a hospital's largest upload is taken for. */
const LARGE_BYTES = 500e9;
const SMALL_BYTES = 4096;
const SMALL_REQUESTS = 400;
const WRITERS = 32;
/** Goals: share of the engine's own throughput at 8 streams, and milliseconds added to a small request's median. */
const LEAST_RATIO = 0.8;
const MOST_ADDED_MS = 1;
/** A round in which the host took more of the processors than this is measured again: it says how the host was, not the front. */
const MOST_STOLEN = 0.1;
type Side = {
  name: "engine" | "front";
  endpoint: string;
  /** May do all on either side. */
  admin: S3Engine["admin"];
  bucket: string;
  caFile: string;
  transport: S3Engine["transport"];
  store: S3Engine["store"];
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const rounds = Number(args[0] ?? 15);
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "rtp-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const engine = await startS3Engine(dir);
  stack.defer(() => engine.close());
  const front = stack.use(await RunningFront.create());
  const user = await front.addUser(2 ** 50);
  await engine.store.ensureBucket("bench");
  const sides: Record<Side["name"], Side> = {
    engine: {
      name: "engine",
      endpoint: engine.endpoint,
      admin: engine.admin,
      bucket: "bench",
      caFile: engine.caFile,
      transport: engine.transport,
      store: engine.store,
    },
    front: {
      name: "front",
      endpoint: front.endpoint,
      admin: front.admin,
      bucket: user.bucket,
      caFile: front.ca.caFile,
      transport: front.transport,
      store: front.store,
    },
  };
  const object = join(dir, "object");
  writeFileSync(object, randomBytes(OBJECT_BYTES));

  const throughput: Record<string, unknown> = {};
  const ratios: Record<string, number> = {};
  for (const method of ["PUT", "GET"] as const)
    for (const streams of STREAMS) {
      const contestant = (side: Side) => ({
        // What is kept would fill the page cache, and the side that comes first to fresh memory would pay for it.
        ...(method === "PUT" ? { prepare: () => removeAll(side) } : {}),
        measure: async () => {
          const before = cpuSecondsOf(front.frontPid);
          const rate = await transfer(side, method, streams, object);
          return { rate, cpuS: cpuSecondsOf(front.frontPid) - before };
        },
      });
      // One round before the first that counts: compilers and page cache.
      const { measured, repeated } = await bench(
        { engine: contestant(sides.engine), front: contestant(sides.front) },
        { rounds, warmUp: 1, mostStolen: MOST_STOLEN },
      );
      const median = (name: Side["name"]): number =>
        quantile(
          measured[name].map(({ rate }) => rate),
          0.5,
        );
      const [alone, behind] = [median("engine"), median("front")];
      const ratio = byRound(
        measured.front,
        measured.engine,
        (ours, engines) => ours.rate / engines.rate,
      );
      const cpuSeconds = measured.front.map(({ cpuS }) => cpuS / ((streams * OBJECT_BYTES) / 1e9));
      ratios[`${method}_${streams}`] = ratio.median;
      throughput[`${method}_${streams}`] = {
        engine_mb_per_s: Math.round(alone),
        front_mb_per_s: Math.round(behind),
        ratio,
        front_cpu_s_per_gb: round(quantile(cpuSeconds, 0.5)),
        rounds: measured.front.length,
        repeated,
      };
      progress(
        `${method} ${streams} streams: engine ${alone.toFixed(0)} MB/s, front ${behind.toFixed(0)} MB/s`,
      );
    }

  progress(
    `one upload of ${MULTIPART.parts} parts, ${MULTIPART.streams} at a time, and its completion`,
  );
  const multipart: Record<string, Multipart> = {};
  for (const side of Object.values(sides)) {
    await removeAll(side);
    multipart[side.name] = await uploadInParts(side, engine.region, object);
    await removeAll(side);
  }
  progress("small requests, one at a time");
  const small = await smallRequests(sides, rounds);
  progress(`${WRITERS} writers into a bucket of 20 objects`);
  const quota = await fill(front);
  const figures = {
    cores: cpus().length,
    rounds,
    object_mib: OBJECT_BYTES / MIB,
    throughput,
    multipart,
    small,
    quota,
    front_peak_rss_mb: Math.round(peakBytesOf(front.frontPid) / 1e6),
    goals: { ratio_at_8_streams: LEAST_RATIO, added_p50_ms: MOST_ADDED_MS },
    // By arithmetic on what was measured, not run; memory does not grow with the object. The parts lay in the page cache when they were put
    // together, which those of 500 GB do not: that takes as long as reading and writing them does, if the disk is slower than this.
    multipart_500_gb_by_arithmetic: largeUpload(multipart["front"]!),
  };
  const isFastEnough =
    (ratios["PUT_8"] ?? 0) >= LEAST_RATIO && (ratios["GET_8"] ?? 0) >= LEAST_RATIO;
  const isSoonEnough = Object.values(small).every(
    ({ added_p50_ms }) => added_p50_ms <= MOST_ADDED_MS,
  );
  return { ok: isFastEnough && isSoonEnough && quota.stored === quota.fit, figures };
}

async function removeAll({ store, bucket }: Side): Promise<void> {
  for await (const page of store.versions(bucket))
    await Promise.all(page.map(({ key, versionId }) => store.remove(bucket, key, versionId)));
}

/** Megabytes a second of all streams together. */
async function transfer(
  side: Side,
  method: "GET" | "PUT",
  streams: number,
  object: string,
): Promise<number> {
  const urls = await Promise.all(
    Array.from({ length: streams }, (_, at) =>
      side.transport.presign(method, [side.bucket, `o/${at}`], {}, 3600),
    ),
  );
  const startedAt = performance.now();
  await Promise.all(
    urls.map((url) =>
      run("curl", [
        ...[
          "--silent",
          "--show-error",
          "--fail",
          "--http1.1",
          "--cacert",
          side.caFile,
          "--output",
          "/dev/null",
        ],
        ...(method === "PUT" ? ["--upload-file", object, url] : [url]),
      ]),
    ),
  );
  return (streams * OBJECT_BYTES) / 1e6 / ((performance.now() - startedAt) / 1000);
}

type Multipart = {
  gb: number;
  parts_mb_per_s: number;
  completion_s: number;
  completion_mb_per_s: number;
};

/** The engine puts the parts together when the upload is completed: a second rate beside that of the parts. */
async function uploadInParts(side: Side, region: string, object: string): Promise<Multipart> {
  const { bucket, caFile, endpoint, admin } = side;
  const ca = readFileSync(caFile, "utf8");
  using transport = new S3Transport({
    endpoint,
    region,
    ca,
    credentials: admin,
    idleMs: COMPLETION_LIMIT_MS,
  });
  const store = new S3ObjectStore(transport);
  const key = "o/large";
  const upload = await store.createUpload(bucket, key, "application/octet-stream");
  const bytes = MULTIPART.parts * OBJECT_BYTES;
  const etags = new Map<number, string>();
  const waiting = Array.from({ length: MULTIPART.parts }, (_, at) => at + 1);
  const startedAt = performance.now();
  const stream = async (): Promise<void> => {
    for (let part = waiting.shift(); part !== undefined; part = waiting.shift())
      etags.set(
        part,
        await putPart(await store.presignPart(bucket, key, upload, part, 3600), caFile, object),
      );
  };
  await Promise.all(Array.from({ length: MULTIPART.streams }, stream));
  const partsS = (performance.now() - startedAt) / 1000;
  const parts = [...etags]
    .map(([partNumber, etag]) => ({ partNumber, etag }))
    .toSorted((a, b) => a.partNumber - b.partNumber);
  const { sizeBytes } = await store.completeUpload(bucket, key, upload, parts);
  const completionS = (performance.now() - startedAt) / 1000 - partsS;
  if (sizeBytes !== bytes)
    throw new Error(`the completed object has ${sizeBytes} bytes of ${bytes}`);
  return {
    gb: round(bytes / 1e9),
    parts_mb_per_s: Math.round(bytes / 1e6 / partsS),
    completion_s: round(completionS),
    completion_mb_per_s: Math.round(bytes / 1e6 / completionS),
  };
}

async function putPart(url: string, caFile: string, object: string): Promise<string> {
  const { stdout } = await run("curl", [
    ...[
      "--silent",
      "--show-error",
      "--fail",
      "--http1.1",
      "--cacert",
      caFile,
      "--output",
      "/dev/null",
    ],
    ...["--write-out", "%header{etag}", "--upload-file", object, url],
  ]);
  return stdout.replaceAll('"', "");
}

function largeUpload({ parts_mb_per_s, completion_mb_per_s }: Multipart): Record<string, number> {
  const hours = (mbPerS: number): number => LARGE_BYTES / 1e6 / mbPerS / 3600;
  return {
    parts_h: round(hours(parts_mb_per_s)),
    completion_min: round(hours(completion_mb_per_s) * 60),
    together_h: round(hours(parts_mb_per_s) + hours(completion_mb_per_s)),
  };
}

type Small = Record<
  string,
  { engine_p50_ms: number; front_p50_ms: number; added_p50_ms: number; added_p99_ms: number }
>;

/** Over one kept connection each, the sides in turns. */
async function smallRequests(sides: Record<Side["name"], Side>, rounds: number): Promise<Small> {
  const figures: Small = {};
  const body = randomBytes(SMALL_BYTES);
  for (const method of ["PUT", "GET", "HEAD"] as const) {
    using stack = new DisposableStack();
    const contestant = (side: Side) => {
      const ca = readFileSync(side.caFile);
      const agent = new Agent({ keepAlive: true, maxSockets: 1, ca });
      stack.defer(() => agent.destroy());
      return {
        measure: async () => await series(await presigned(side, method), method, body, agent),
      };
    };
    const { measured } = await bench(
      { engine: contestant(sides.engine), front: contestant(sides.front) },
      { rounds, warmUp: 1 },
    );
    const p = (name: Side["name"], share: number) => quantile(measured[name].flat(), share);
    figures[method] = {
      engine_p50_ms: round(p("engine", 0.5)),
      front_p50_ms: round(p("front", 0.5)),
      added_p50_ms: round(p("front", 0.5) - p("engine", 0.5)),
      added_p99_ms: round(p("front", 0.99) - p("engine", 0.99)),
    };
  }
  return figures;
}

/** A presigned HEAD is signed as one: the engine counts the method in. */
async function presigned(
  { transport, bucket }: Side,
  method: "PUT" | "GET" | "HEAD",
): Promise<string> {
  return await transport.presign(method, [bucket, "small"], {}, 3600);
}

async function series(url: string, method: string, body: Buffer, agent: Agent): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < SMALL_REQUESTS / 4; n++) {
    const startedAt = performance.now();
    await new Promise<void>((resolve, reject) => {
      const asked = request(
        url,
        {
          method,
          agent,
          ...(method === "PUT" ? { headers: { "content-length": body.length } } : {}),
        },
        (answer) => {
          if (answer.statusCode !== 200)
            reject(new Error(`${method} was answered ${answer.statusCode}`));
          answer.resume().once("end", resolve);
        },
      );
      asked.on("error", reject);
      asked.end(method === "PUT" ? body : undefined);
    });
    times.push(performance.now() - startedAt);
  }
  return times;
}

/** As many objects as fit, wanted by more writers at once than there is room. */
async function fill(front: RunningFront): Promise<{
  writers: number;
  fit: number;
  stored: number;
  stored_bytes: number;
  quota_bytes: number;
}> {
  const [fit, bytes] = [20, 100_000];
  const user = await front.addUser(fit * bytes);
  const store = front.storeOf(user);
  const ends = await Promise.allSettled(
    Array.from({ length: WRITERS }, (_, at) =>
      store.put(user.bucket, `q/${at}`, Buffer.alloc(bytes), "text/plain"),
    ),
  );
  const { usedBytes } = await front.store.usage(user.bucket);
  return {
    writers: WRITERS,
    fit,
    stored: ends.filter(({ status }) => status === "fulfilled").length,
    stored_bytes: usedBytes,
    quota_bytes: fit * bytes,
  };
}

function cpuSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

function peakBytesOf(pid: number): number {
  return (
    Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) *
    1024
  );
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
