/**
 * What a copy costs the writes after it: a bucket of 10^5 versions behind the real front, the real engine and the coordinator's real answers. A write
 * right after `CopyObject` or `UploadPartCopy` is compared with a write after another write, in turns. Most versions are laid into the engine's folder as
 * files, which it serves as objects; what is measured goes through the door.
 *
 *     npm run prove -- s3-copies [VERSIONS] [ROUNDS]
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { RunningFront } from "@resontech/s3-front/testing/running-front";
import { quantile } from "../statistics.ts";
import { bench, byRound, timed } from "./measure/bench.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const MOST_RATIO = 1.2;
const FILES_A_FOLDER = 1000;
const SMALL_BYTES = 4096;
const SOURCE_BYTES = 64 * 1024;
const KINDS = ["write", "CopyObject", "UploadPartCopy"] as const;

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const [versions, rounds] = [Number(args[0] ?? 100_000), Number(args[1] ?? 60)];
  await using front = await RunningFront.create();
  const user = await front.addUser(2 ** 50);
  const store = front.storeOf(user);
  const own = front.transportOf(user.keys);
  progress(`a bucket of ${versions} versions`);
  for (let at = 0; at < versions; at++) {
    const folder = join(
      front.dir,
      "objects",
      user.bucket,
      "data",
      String(Math.floor(at / FILES_A_FOLDER)),
    );
    if (at % FILES_A_FOLDER === 0) mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, String(at)), "x");
  }
  let counts = 0;
  const count = front.store.usage.bind(front.store);
  front.store.usage = (bucket) => {
    counts += 1;
    return count(bucket);
  };
  const startedAt = performance.now();
  await store.put(user.bucket, "source", Buffer.alloc(SOURCE_BYTES), "text/plain");
  const firstWriteMs = performance.now() - startedAt;
  progress(`the first write, which counts the bucket, took ${firstWriteMs.toFixed(0)} ms`);
  const uploadId = await store.createUpload(user.bucket, "parts", "text/plain");

  const body = Buffer.alloc(SMALL_BYTES);
  const headers = { "x-amz-copy-source": `/${user.bucket}/source` };
  const before = {
    write: () => store.put(user.bucket, "other", body, "text/plain"),
    CopyObject: () => own.send({ method: "PUT", path: [user.bucket, "copy"], headers }),
    UploadPartCopy: () =>
      own.send({
        method: "PUT",
        path: [user.bucket, "parts"],
        query: { uploadId, partNumber: "1" },
        headers,
      }),
  };
  const afterwards = (kind: (typeof KINDS)[number]) => ({
    prepare: async () => void (await before[kind]()),
    measure: () => timed(() => store.put(user.bucket, "after", body, "text/plain")),
  });
  const { measured: tookMs } = await bench(
    {
      write: afterwards("write"),
      CopyObject: afterwards("CopyObject"),
      UploadPartCopy: afterwards("UploadPartCopy"),
    },
    { rounds, warmUp: 1 },
  );
  const ratios = Object.fromEntries(
    KINDS.slice(1).map((kind) => [
      kind,
      byRound(tookMs[kind], tookMs.write, (ms, ofWrite) => ms / ofWrite),
    ]),
  );
  const medians = Object.fromEntries(
    KINDS.map((kind) => [`after_${kind}_ms`, Number(quantile(tookMs[kind], 0.5).toFixed(2))]),
  );
  const figures = {
    versions,
    rounds,
    first_write_ms: Math.round(firstWriteMs),
    counts_of_the_bucket: counts,
    ...medians,
    ratios,
  };
  const ok = counts === 1 && Object.values(ratios).every(({ median }) => median <= MOST_RATIO);
  return { ok, figures };
}
