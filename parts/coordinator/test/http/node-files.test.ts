/** What is given out without a key is a closed list: files of the release that a node needs, and nothing else of this host. */
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SIGNED_FILES, SIGNED_FOLDER } from "@resontech/contracts/node-files";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import t from "tap";
import { NodeFiles } from "../../src/nodes/node-files.ts";
import type { S3Engine } from "../helper/s3-engine.ts";
import { makeTestApp } from "../helper/test-app.ts";

const dir = t.testdir();
const write = (path: string, text: string) => {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
  const sha256 = createHash("sha256").update(text).digest("hex");
  return { path, sha256, sizeBytes: text.length, executable: false };
};
const node = write("bin/node", "the runtime");
const runner = write("app/runners/deep/run.py", "a runner");
const empty = write("app/runners/__init__.py", "");
const coordinator = write("app/coordinator.mjs", "of the appliance alone");
const manifest: ReleaseManifest = {
  ...{ formatVersion: 1, product: "resontech-appliance", version: "0.1.0", sourceDateEpoch: 1 },
  ...{ upgradeFrom: [], diskNeedBytes: 1, phases: [], engines: {}, images: [], blobs: [] },
  tree: [node, runner, empty, coordinator],
};
write("release-manifest.json", JSON.stringify(manifest));
for (const name of SIGNED_FILES) write(join(SIGNED_FOLDER, name), `signed ${name}`);
write("ca/root.crt", "the root");
write("secret", "the secret");

const noEngine = { endpoint: "", region: "", volumePath: dir } as unknown as S3Engine;
const api = await makeTestApp(join(dir, "db"), noEngine, {
  nodeFiles: NodeFiles.ofRelease(dir, join(dir, "ca/root.crt")),
});
t.teardown(() => api.close());
const get = async (path: string) =>
  await api.app.inject({ method: "GET", url: `/node/v1/${path}` });

t.test(
  "a host without a key gets the signed statements, the root and each file by its SHA-256",
  async (t) => {
    for (const name of SIGNED_FILES) t.equal((await get(name)).body, `signed ${name}`);
    t.equal((await get("root.crt")).body, "the root");
    for (const [{ sha256, sizeBytes }, text] of [
      [node, "the runtime"],
      [runner, "a runner"],
      [empty, ""],
    ] as const) {
      const reply = await get(`blobs/sha256/${sha256}`);
      t.equal(reply.statusCode, 200);
      t.equal(reply.body, text);
      t.equal(reply.headers["content-length"], String(sizeBytes));
    }
  },
);

t.test(
  "files of the appliance alone and of the host are not there, however they are asked for",
  async (t) => {
    const asked = [
      `blobs/sha256/${coordinator.sha256}`,
      `blobs/sha256/${createHash("sha256").update("the secret").digest("hex")}`,
      `blobs/sha256/${"0".repeat(64)}`,
      "blobs/sha256/..%2f..%2fsecret",
      "..%2fsecret",
      "%2e%2e/secret",
      "secret",
      "release-manifest.json",
      "signed%2froot.crt",
      "root.crt%00",
      node.sha256,
      "__proto__",
      "",
    ];
    for (const path of asked) {
      const reply = await get(path);
      t.ok([400, 404].includes(reply.statusCode), `${path}: ${reply.statusCode}`);
      t.notMatch(reply.body, /the secret|of the appliance alone/);
    }
  },
);

t.test("whoever asks again and again is told to wait", async (t) => {
  const statuses = new Set<number>();
  for (let asked = 0; asked < 3_001; asked++) statuses.add((await get("root.crt")).statusCode);
  t.ok(statuses.has(429));
});

t.test(
  "of many that are read at once, and not read on, the last are told to come again",
  async (t) => {
    const files = NodeFiles.ofRelease(dir, join(dir, "ca/root.crt"));
    const open = Array.from({ length: 16 }, () => files.open(node.sha256));
    t.throws(() => files.open(node.sha256), { code: "overloaded" });
    open[0]?.bytes.destroy();
    await new Promise((resolve) => open[0]?.bytes.once("close", resolve));
    const next = files.open(node.sha256);
    for (const { bytes } of [...open, next]) bytes.destroy();
  },
);
