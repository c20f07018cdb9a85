/**
 * A file of 1 GiB goes into a bucket by `resontech storage put`, whose process is killed again and again: beside the same upload that nobody
 * disturbs, to the same real S3 front with the real engine behind it. The last kill comes while the store puts the parts together.
 *
 * What a process has sent is read of the kernel while it stands still, just before it is killed: bytes that it wrote, TLS included.
 *
 *     npm run prove -- resume-upload
 */
import { createHash, randomBytes } from "node:crypto";
import {
  closeSync,
  createReadStream,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { UPLOAD_PART_BYTES } from "@resontech/contracts/http-storage";
import { Shell } from "@resontech/cli/testing/shell";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import type { ProofContext, ProofResult } from "../proof.ts";

const MIB = 1024 ** 2;
const FILE_BYTES = 1024 * MIB;
/** Of the parts, so many are stored when the process is killed; the last ones are all. */
const KILLED_AT = [0.05, 0.25, 0.5, 0.75, 1];
/** Parts under way when it is killed: its streams. */
const STREAMS = 4;
const KEY = "data/study.bin";

type Kept = { etags: (string | null)[] };

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  await using stack = new AsyncDisposableStack();
  const dir = mkdtempSync(join(tmpdir(), "rtp-"));
  stack.defer(() => rmSync(dir, { recursive: true, force: true }));
  const running = stack.use(await RunningCoordinator.create({ front: true }));
  const user = await running.control("add-user", { username: "ada" });
  await running.control("user-quota", { username: "ada", bytes: 8 * FILE_BYTES });
  writeFileSync(join(dir, "ca.crt"), running.caPem);
  const env = {
    ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
    ...{ SSL_CERT_FILE: join(dir, "ca.crt"), XDG_CONFIG_HOME: join(dir, "config") },
  };
  const file = join(dir, "study.bin");
  progress("making a file of 1 GiB that nothing can make smaller");
  const sha256 = writeRandom(file);
  const put = () => new Shell(env, "storage", "put", file, KEY, "--json");

  progress("the upload that nobody disturbs");
  const calm = await timed(async () => await ended(put()));
  // Its versions would fill the disk that the next upload needs.
  for await (const page of running.s3.store.versions(user.bucketAlias))
    for (const { key, versionId } of page)
      await running.s3.store.remove(user.bucketAlias, key, versionId);

  const kept = keptIn(join(dir, "config", "resontech", "uploads"));
  const parts = Math.ceil(FILE_BYTES / UPLOAD_PART_BYTES);
  const kills: { parts_stored: number; sent_mib: number; seconds: number }[] = [];
  let sentBytes = 0;
  for (const share of KILLED_AT) {
    const wanted = Math.max(1, Math.floor(share * parts));
    const startedAt = performance.now();
    const shell = put();
    while (kept() < wanted) await sleep(2);
    // Into what follows: into the next parts, or into the completion.
    await sleep(20);
    const sent = shell.killStopped();
    await shell.ended;
    const seconds = round((performance.now() - startedAt) / 1000);
    sentBytes += sent;
    kills.push({ parts_stored: kept(), sent_mib: Math.round(sent / MIB), seconds });
    progress(`killed with ${kept()} of ${parts} parts stored, ${Math.round(sent / MIB)} MiB sent`);
  }
  progress("and to its end");
  const last = await timed(async () => await ended(put()));
  const { sizeBytes, resumedBytes, isAnew } = last.value;
  sentBytes += sizeBytes - resumedBytes;

  progress("reading it back");
  const got = join(dir, "got.bin");
  // The two copies and the store's would be one too many.
  rmSync(file);
  const read = await Shell.run(env, "storage", "get", KEY, got);
  if (read.code !== 0) throw new Error(read.said);
  const isEqual = (await digestOf(got)) === sha256;

  const again = sentBytes - FILE_BYTES;
  const seconds = kills.reduce((sum, kill) => sum + kill.seconds, last.seconds);
  const bound = KILLED_AT.length * STREAMS * UPLOAD_PART_BYTES;
  return {
    ok: isEqual && !isAnew && again < bound && existsSync(got),
    figures: {
      ...{ file_mib: FILE_BYTES / MIB, part_mib: UPLOAD_PART_BYTES / MIB, kills },
      digest_equal: isEqual,
      began_anew: isAnew,
      sent_again_mib: Math.round(again / MIB),
      sent_again_share: round(again / FILE_BYTES),
      sent_again_mib_a_kill: Math.round(again / MIB / KILLED_AT.length),
      uninterrupted_s: round(calm.seconds),
      with_kills_s: round(seconds),
      ratio: round(seconds / calm.seconds),
      goals: { sent_again_mib: bound / MIB },
    },
  };
}

/** How many parts the person's own record says are stored. */
function keptIn(folder: string): () => number {
  return () => {
    const name = existsSync(folder) && readdirSync(folder).find((one) => one.endsWith(".json"));
    if (typeof name !== "string") return 0;
    const { etags } = JSON.parse(readFileSync(join(folder, name), "utf8")) as Kept;
    return etags.filter((etag) => etag !== null).length;
  };
}

type Put = { sizeBytes: number; resumedBytes: number; isAnew: boolean };

async function ended(shell: Shell): Promise<Put> {
  const code = await shell.ended;
  if (code !== 0) throw new Error(`ended with ${code}: ${shell.said}`);
  return JSON.parse(shell.out) as Put;
}

async function timed<T>(work: () => Promise<T>): Promise<{ value: T; seconds: number }> {
  const startedAt = performance.now();
  const value = await work();
  return { value, seconds: (performance.now() - startedAt) / 1000 };
}

/** @returns its SHA-256 */
function writeRandom(file: string): string {
  const hash = createHash("sha256");
  const fd = openSync(file, "w");
  for (let at = 0; at < FILE_BYTES; at += 16 * MIB) {
    const bytes = randomBytes(16 * MIB);
    hash.update(bytes);
    writeSync(fd, bytes);
  }
  closeSync(fd);
  return hash.digest("hex");
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
