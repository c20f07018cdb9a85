/**
 * What it takes the agent to stage two shards at once and to store an output, through the S3 door and the real engine, beside `curl` on the
 * same door at as many streams, in turns. By the agent's own code in a process of its own, whose main thread is the one that would keep the
 * lease.
 *
 *     npm run prove -- staging [GB [ROUNDS]]
 */
import { type ChildProcess, execFile, fork } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { S3ObjectStore } from "@resontech/coordinator/object-store";
import { S3Transport } from "@resontech/coordinator/s3-transport";
import { RunningFront } from "@resontech/s3-front/testing/running-front";
import { quantile } from "../statistics.ts";
import { bench, type Benched, byRound } from "./measure/bench.ts";
import type { ProofContext, ProofResult } from "../proof.ts";
import { writeStoredZip } from "./staging/stored-zip.ts";
import type { Order, Taken } from "./staging/transfer-process.ts";

const run = promisify(execFile);
const MIB = 1024 ** 2;
const FILE_BYTES = 16 * MIB;
/** As the coordinator makes them. */
const PART_BYTES = 64 * MIB;
/** As the agent stores. */
const STORE_STREAMS = 4;
const SHARDS = 2;
const COMPLETION_LIMIT_MS = 15 * 60_000;
const GOAL = { cpuSPerGb: 2.5, ratio: 0.6, lagMs: 100 } as const;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [gb, rounds] = [Number(args[0] ?? 3), Number(args[1] ?? 3)];
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "rtp-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const front = stack.use(await RunningFront.create());
  const door = new Door(front, (await front.addUser(2 ** 50)).bucket);
  stack.use(door);
  const file = join(dir, "shard.zip");
  const sizeBytes = writeStoredZip(
    file,
    Math.round((gb * 1e9) / FILE_BYTES),
    randomBytes(FILE_BYTES),
  );

  // One round before the first that counts: a virtual machine pays for memory that it touches for the first time, as page cache too.
  const stored = await bench<Measures>(
    {
      curl: {
        measure: (round) => door.curlParts(keyOf(round), file, sizeBytes),
      },
      agent: {
        measure: async (round) => {
          const key = keyOf(round);
          const { id, urls } = await door.open(key, sizeBytes);
          const taken = await transfer({
            ...{ do: "store", ca: front.caPem, file, sizeBytes, urls },
            partSizeBytes: PART_BYTES,
          });
          if (round + 1 < SHARDS) await door.complete(key, id, taken.etags);
          else await door.abort(key, id);
          return transferred(taken, sizeBytes);
        },
      },
    },
    { rounds, warmUp: 1, told: tell("stored", rounds, progress) },
  );
  const urlsOfShards = () =>
    Promise.all(Array.from({ length: SHARDS }, (_, n) => door.getUrl(keyOf(n - 1))));
  const staged = await bench<Measures>(
    {
      curl: {
        measure: async () => await door.curlGet(await urlsOfShards(), sizeBytes),
      },
      agent: {
        measure: async () => {
          const shards = (await urlsOfShards()).map((url, n) => ({
            ...{ url, sizeBytes, folder: join(dir, `staged-${n}`) },
          }));
          for (const { folder } of shards) mkdirSync(folder);
          const taken = await transfer({ do: "stage", ca: front.caPem, shards });
          for (const { folder } of shards) rmSync(folder, { recursive: true });
          return transferred(taken, SHARDS * sizeBytes);
        },
      },
    },
    { rounds, warmUp: 1, told: tell("staged", rounds, progress) },
  );
  const [staging, storing] = [summary(staged), summary(stored)];
  const isGood = ({ cpu_s_per_gb, ratio, lag_ms }: ReturnType<typeof summary>): boolean =>
    cpu_s_per_gb <= GOAL.cpuSPerGb && ratio.median >= GOAL.ratio && lag_ms < GOAL.lagMs;
  return {
    ok: isGood(staging) && isGood(storing),
    figures: { shard_gb: round2(sizeBytes / 1e9), shards: SHARDS, staging, storing, goals: GOAL },
  };
}

/** Of `curl` megabytes a second. */
type Measures = { curl: number; agent: Transferred };
/** What a transfer of the agent's took. */
type Transferred = { mbPerS: number; cpuSPerGb: number; lagMs: number; idleLagMs: number };

/** The first ones stay, and are the shards that are staged. */
function keyOf(round: number): string {
  return `shard-${round + 1}`;
}

function transferred(taken: Taken & { idleLagMs: number }, bytes: number): Transferred {
  const { seconds, cpuS, lagMs, idleLagMs } = taken;
  return { mbPerS: bytes / 1e6 / seconds, cpuSPerGb: cpuS / (bytes / 1e9), lagMs, idleLagMs };
}

function summary({ measured: { agent, curl } }: Benched<Measures>) {
  const median = (of: (one: Transferred) => number): number => quantile(agent.map(of), 0.5);
  return {
    mb_per_s: Math.round(median(({ mbPerS }) => mbPerS)),
    curl_mb_per_s: Math.round(quantile(curl, 0.5)),
    ratio: byRound(agent, curl, ({ mbPerS }, peerMbPerS) => mbPerS / peerMbPerS),
    cpu_s_per_gb: round2(median(({ cpuSPerGb }) => cpuSPerGb)),
    lag_ms: Math.max(...agent.map(({ lagMs }) => lagMs)),
    lag_of_an_idle_process_ms: Math.max(...agent.map(({ idleLagMs }) => idleLagMs)),
  };
}

function tell(what: string, rounds: number, progress: (line: string) => void) {
  return ({ agent, curl }: Measures, round: number): void =>
    progress(
      `${what} ${round + 1} of ${rounds}: ${agent.mbPerS.toFixed(0)} MB/s (curl ${curl.toFixed(0)}), ` +
        `${agent.cpuSPerGb.toFixed(2)} CPU s/GB, lag ${agent.lagMs} ms (idle process ${agent.idleLagMs})`,
    );
}

/** With how late a process was meanwhile that had nothing to do. */
async function transfer(order: Order): Promise<Taken & { idleLagMs: number }> {
  const [worker, idle] = [begin(order), begin({ do: "watch" })];
  const taken = await worker.taken;
  idle.child.send("enough");
  return { ...taken, idleLagMs: (await idle.taken).lagMs };
}

function begin(order: Order): { child: ChildProcess; taken: Promise<Taken> } {
  const child = fork(join(import.meta.dirname, "staging", "transfer-process.ts"), {
    stdio: "inherit",
  });
  const taken = new Promise<Taken>((resolve, reject) => {
    child.once("message", (message) => resolve(message as Taken));
    child.once("exit", (code) =>
      reject(new Error(`the process that transfers ended with ${code}`)),
    );
    child.send(order);
  });
  return { child, taken };
}

/** The front with one bucket, for the coordinator's requests and for `curl`. */
class Door implements Disposable {
  readonly #bucket: string;
  readonly #caFile: string;
  readonly #transport: S3Transport;
  readonly #store: S3ObjectStore;

  constructor(front: RunningFront, bucket: string) {
    this.#bucket = bucket;
    this.#caFile = front.ca.caFile;
    const { endpoint, admin, caPem: ca } = front;
    this.#transport = new S3Transport({
      endpoint,
      region: "garage",
      ca,
      credentials: admin,
      idleMs: COMPLETION_LIMIT_MS,
    });
    this.#store = new S3ObjectStore(this.#transport);
  }

  async getUrl(key: string): Promise<string> {
    return await this.#transport.presign("GET", [this.#bucket, key], {}, 3600);
  }

  async open(key: string, sizeBytes: number): Promise<{ id: string; urls: string[] }> {
    const id = await this.#store.createUpload(this.#bucket, key, "application/zip");
    const parts = Array.from({ length: Math.ceil(sizeBytes / PART_BYTES) }, (_, at) => at + 1);
    return {
      id,
      urls: await Promise.all(
        parts.map((part) => this.#store.presignPart(this.#bucket, key, id, part, 3600)),
      ),
    };
  }

  async complete(key: string, id: string, etags: readonly string[]): Promise<void> {
    const parts = etags.map((etag, at) => ({ partNumber: at + 1, etag }));
    await this.#store.completeUpload(this.#bucket, key, id, parts);
  }

  /** Megabytes a second of all streams together. */
  async curlGet(urls: readonly string[], sizeBytes: number): Promise<number> {
    const from = performance.now();
    await Promise.all(urls.map((url) => this.#curl(url)));
    return (urls.length * sizeBytes) / 1e6 / ((performance.now() - from) / 1000);
  }

  /** The same bytes in the same parts at as many streams; given up afterwards. */
  async curlParts(key: string, file: string, sizeBytes: number): Promise<number> {
    const { id, urls } = await this.open(key, sizeBytes);
    const waiting = urls.map((url, at) => ({ url, at }));
    const from = performance.now();
    const lane = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const length = Math.min(PART_BYTES, sizeBytes - next.at * PART_BYTES);
        // `dd` hands over what lies there: curl sends a whole file only.
        const part = `dd if="$0" bs=${MIB} skip=${(next.at * PART_BYTES) / MIB} count=${Math.ceil(length / MIB)} status=none`;
        const put = `${part} | curl --silent --show-error --fail --http1.1 --cacert "$1" --output /dev/null -H "Content-Length: ${length}" -H "Transfer-Encoding:" -T - "$2"`;
        await run("sh", ["-c", put, file, this.#caFile, next.url]);
      }
    };
    await Promise.all(Array.from({ length: STORE_STREAMS }, lane));
    const rate = sizeBytes / 1e6 / ((performance.now() - from) / 1000);
    await this.abort(key, id);
    return rate;
  }

  async abort(key: string, id: string): Promise<void> {
    await this.#store.abortUpload(this.#bucket, key, id);
  }

  async #curl(url: string): Promise<void> {
    await run("curl", [
      ...[
        "--silent",
        "--show-error",
        "--fail",
        "--http1.1",
        "--cacert",
        this.#caFile,
        "--output",
        "/dev/null",
      ],
      url,
    ]);
  }

  [Symbol.dispose](): void {
    this.#transport[Symbol.dispose]();
  }
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}
