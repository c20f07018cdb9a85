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
import { RunningCoordinator } from "../../coordinator/test/helper/running-coordinator.ts";
import { goodFiles } from "../../coordinator/test/helper/workspace.ts";
import { Shell } from "./helper/shell.ts";

t.setTimeout(240_000);
const running = await RunningCoordinator.create();
t.teardown(() => running[Symbol.asyncDispose]());
const dir = mkdtempSync(join(tmpdir(), "rt-cli-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
writeFileSync(join(dir, "ca.crt"), running.caPem);
const user = await running.control({ verb: "add-user", username: "ada", admin: false });
if (!user.ok || user.verb !== "add-user") throw new Error("no user");
const env = {
  ...{ RESON_API_KEY: user.platformKey, RESON_BASE_URL: running.url },
  ...{ SSL_CERT_FILE: join(dir, "ca.crt"), XDG_CONFIG_HOME: join(dir, "config") },
};
const run = (...words: string[]) => Shell.run(env, ...words);
const MIB = 1024 ** 2;

async function digestOf(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file)) hash.update(chunk as Buffer);
  return hash.digest("hex");
}

t.test("an upload that is killed goes on with the parts that are missing", async (t) => {
  const file = join(dir, "large.bin");
  writeFileSync(file, Buffer.alloc(230 * MIB, "resontech"));
  const first = new Shell(env, "storage", "put", file, "data/large.bin");
  const kept = join(dir, "config", "resontech", "uploads");
  const etags = () => {
    const [name] = existsSync(kept) ? readdirSync(kept).filter((one) => one.endsWith(".json")) : [];
    if (name === undefined) return [];
    t.equal(statSync(join(kept, name)).mode & 0o777, 0o600);
    return (JSON.parse(readFileSync(join(kept, name), "utf8")) as { etags: (string | null)[] })
      .etags;
  };
  while (!etags().some((etag) => etag !== null)) await sleep(10);
  first.kill();
  await first.ended;
  const sent = etags().filter((etag) => etag !== null).length;
  t.ok(sent >= 1 && sent < 5, `${sent} of 5 parts`);
  const second = await run("storage", "put", file, "data/large.bin");
  t.match(second, { code: 0, said: /data\/large.bin: 241172480 bytes, \d+ of them sent before/ });
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
  t.match(await run("storage", "ls", "data"), { code: 0, out: /data\/large.bin +241172480/ });
  t.match(await run("storage", "rm", "data/large.bin"), { code: 0 });
  t.match(await run("storage", "rm", "data/large.bin"), { code: 1, said: /not_found/ });
  t.match(await run("storage", "put", join(dir, "none")), { code: 1, said: /file_missing/ });
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
    t.match(submitted, { code: 0, out: /^job-\S+\n$/, said: /submitted Study one/ });
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
