/** `resontech storage` and `submit` as processes: transfers that are killed go on where they stopped, and a ready folder becomes a job. */
import { createHash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningCoordinator } from "@resontech/coordinator/testing/running-coordinator";
import { goodFiles } from "@resontech/coordinator/testing/workspace";
import { Shell } from "./helper/shell.ts";

t.setTimeout(600_000);
const running = await RunningCoordinator.create({ front: true });
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control("add-user", { username: "ada" });
const env = {
  ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
  ...{ SSL_CERT_FILE: join(dir, "ca.crt"), XDG_CONFIG_HOME: join(dir, "config") },
};
const run = (...words: string[]) => Shell.run(env, ...words);
const MIB = 1024 ** 2;
/** Enough where an upload begins anew or is whole already: each byte goes through TLS twice. */
const THREE_PARTS = 101 * MIB;

type Kept = { uploadId: string; urls: string[]; etags: (string | null)[] };

const kept = join(dir, "config", "resontech", "uploads");
/** The front asks so often for a quota, and a little. */
const QUOTA_HOLDS_MS = 5_200;

function keptUpload(): { name: string; upload: Kept } | null {
  const name = existsSync(kept) && readdirSync(kept).find((one) => one.endsWith(".json"));
  if (typeof name !== "string") return null;
  return { name, upload: JSON.parse(readFileSync(join(kept, name), "utf8")) as Kept };
}

/** Begins an upload and kills it after its first part. */
async function killedUpload(file: string, key: string): Promise<{ name: string; upload: Kept }> {
  const first = new Shell(env, "storage", "put", file, key);
  while (!keptUpload()?.upload.etags.some((etag) => etag !== null)) await sleep(1);
  first.kill();
  await first.ended;
  const left = keptUpload();
  if (left === null) throw new Error("it was done before it was killed");
  return left;
}

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

t.test("an upload that is killed goes on with the parts that are missing", async (t) => {
  const file = join(dir, "large.bin");
  writeFileSync(file, Buffer.alloc(160 * MIB, "resontech"));
  const { name, upload } = await killedUpload(file, "data/large.bin");
  t.equal(statSync(join(kept, name)).mode & 0o777, 0o600);
  const sent = upload.etags.filter((etag) => etag !== null).length;
  t.ok(sent >= 1 && sent < 4, `${sent} of 4 parts`);
  const second = await run("storage", "put", file, "data/large.bin");
  t.match(second, { code: 0, said: /data\/large.bin: 160.0 MiB, \d+\.\d MiB of them sent before/ });
  t.same(readdirSync(kept), []);

  const got = join(dir, "got.bin");
  const reading = new Shell(env, "storage", "get", "data/large.bin", got);
  while (!existsSync(`${got}.part`) || statSync(`${got}.part`).size === 0) await sleep(1);
  reading.kill();
  await reading.ended;
  if (!existsSync(got)) {
    t.match(await run("storage", "get", "data/large.bin", got), { code: 0 });
    t.equal(await digestOf(got), await digestOf(file));
  }
  t.match(await run("storage", "get", "data/large.bin", got), { code: 1, said: /file_exists/ });
  t.match(await run("storage", "ls", "data"), { code: 0, out: /data\/large.bin +160\.0 MiB/ });
  t.match(await run("storage", "rm", "data/large.bin"), { code: 0 });
  t.match(await run("storage", "rm", "data/large.bin"), { code: 1, said: /not_found/ });
  t.match(await run("storage", "put", join(dir, "none")), { code: 1, said: /file_missing/ });
});

t.test(
  "a kept upload that is gone at the store is forgotten, and the same command begins anew",
  async (t) => {
    for (const missing of ["some", "none"]) {
      const [file, key] = [join(dir, `gone-${missing}.bin`), `data/gone-${missing}.bin`];
      writeFileSync(file, Buffer.alloc(THREE_PARTS, missing));
      const { name, upload } = await killedUpload(file, key);
      // Cut after the last part and before the completion: none is missing.
      if (missing === "none") {
        const etags = upload.urls.map(() => "0".repeat(32));
        writeFileSync(join(kept, name), JSON.stringify({ ...upload, etags }));
      }
      const aborted = await running.request(
        ...(["POST", "/api/users/storage/upload/abort", user.platformKey] as const),
        { key, uploadId: upload.uploadId },
      );
      t.match(aborted, { status: 200, body: { aborted: true } });
      const second = await run("storage", "put", file, key);
      t.match(second, { code: 0, said: /could not be used; all was sent anew\n/ });
      t.notMatch(second.said, /sent before$/m);
      t.same(readdirSync(kept), [], "nothing is kept of either");
      const got = join(dir, `got-${missing}.bin`);
      t.match(await run("storage", "get", key, got), { code: 0 });
      t.equal(await digestOf(got), await digestOf(file));
    }
  },
);

t.test("an upload that was cut while the store completed it is not sent again", async (t) => {
  const [file, key] = [join(dir, "completed.bin"), "data/completed.bin"];
  writeFileSync(file, Buffer.alloc(THREE_PARTS, "completed"));
  const { name, upload } = await killedUpload(file, key);
  // What the killed process would have done, up to where it can't note the end any more.
  const etags = await Promise.all(
    upload.urls.map(async (url, at) => {
      const body = readFileSync(file).subarray(at * 50 * MIB, (at + 1) * 50 * MIB);
      const sent = await fetchWithCa(running.caPem, url, { method: "PUT", body });
      return (sent.headers.get("etag") ?? "").replaceAll('"', "");
    }),
  );
  writeFileSync(join(kept, name), JSON.stringify({ ...upload, etags }), { mode: 0o600 });
  const parts = etags.map((ETag, at) => ({ PartNumber: at + 1, ETag }));
  const completed = await running.request(
    ...(["POST", "/api/users/storage/upload/complete", user.platformKey] as const),
    { key, uploadId: upload.uploadId, parts },
  );
  t.equal(completed.status, 200);
  const second = await run("storage", "put", file, key);
  t.match(second, { code: 0, said: "101.0 MiB, 101.0 MiB of them sent before" });
  t.notMatch(second.said, /anew/);
  t.same(readdirSync(kept), []);
  const { versionId } = completed.body as { versionId: string };
  const now = await running.s3.store.stat(user.bucketAlias, key);
  t.equal(now?.versionId, versionId, "there is no second version");
});

t.test("an upload of a file that has changed since holds no room", async (t) => {
  const used = async () => {
    const { body } = await running.get("/api/users/storage/usage", user.platformKey);
    return Number(body["usedBytes"]);
  };
  const before = await used();
  const file = join(dir, "changed.bin");
  writeFileSync(file, Buffer.alloc(THREE_PARTS, "first"));
  await killedUpload(file, "data/changed.bin");
  t.ok((await used()) > before, "its parts count while it may go on");
  writeFileSync(file, Buffer.alloc(MIB, "second"));
  t.match(await run("storage", "put", file, "data/changed.bin"), { code: 0, said: /sent anew/ });
  t.equal(await used(), before + MIB);
});

t.test("a full bucket keeps what was sent: the same command goes on", async (t) => {
  const setQuota = async (bytes: number) => {
    await running.control("user-quota", { username: "ada", bytes });
    await sleep(QUOTA_HOLDS_MS);
  };
  const usage = await running.get("/api/users/storage/usage", user.platformKey);
  await setQuota(Number(usage.body["usedBytes"]) + 130 * MIB);
  const [file, other] = [join(dir, "quota.bin"), join(dir, "other.bin")];
  writeFileSync(file, Buffer.alloc(120 * MIB, "quota"));
  writeFileSync(other, Buffer.alloc(60 * MIB, "other"));
  t.match(await run("storage", "put", other, "data/other.bin"), { code: 0 });
  t.match(await run("storage", "put", file, "data/quota.bin"), { code: 1, said: /bucket_full: / });
  t.equal(readdirSync(kept).length, 1);
  await setQuota(4 * 1024 ** 3);
  const second = await run("storage", "put", file, "data/quota.bin");
  t.match(second, { code: 0, said: /, [1-9]\d*\.\d MiB of them sent before/ });
  t.same(readdirSync(kept), []);
});

t.test(
  "a ready folder becomes a job, and one that lacks a part is refused before anything is sent",
  async (t) => {
    const folder = join(dir, "Study one");
    for (const [path, content] of Object.entries(goodFiles())) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), content);
    }
    const submitted = await run("submit", folder, "--gpu-models", "cpu", "--max-price", "100");
    t.match(submitted, {
      code: 0,
      out: /^job-\S+\n$/,
      said: /submitted Study one[^]*it waits: needs 2 workers/,
    });
    t.match(await run("jobs", "ls"), { code: 0, out: /Study one/ });
    t.match(await run("storage", "ls", "jobs/study-one"), { out: /jobs\/study-one\/shards\// });
    rmSync(join(folder, "shards"), { recursive: true });
    t.match(await run("submit", folder, "--name", "other"), {
      code: 1,
      said: /folder_invalid.*shards/,
    });
    t.match(await run("storage", "ls", "jobs/other"), { code: 0, said: /nothing lies there/ });
    t.match(await run("submit", join(dir, "none")), { code: 1, said: /path_missing/ });
  },
);
