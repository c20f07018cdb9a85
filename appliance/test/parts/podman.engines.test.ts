import { spawnSync } from "node:child_process";
import { hash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readdirSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import t, { type Test } from "tap";
import { Layout } from "@resontech/frame/layout";
import { podman as declared } from "@resontech/podman/part";
import { hostPart } from "../../src/parts/host-part.ts";
import { jobHost } from "../helper/job-host.ts";

function podman(t: Test, name: string) {
  const layout = new Layout(t.testdir(), `${name}${process.pid}`);
  mkdirSync(layout.run(), { recursive: true });
  mkdirSync(layout.log(""), { recursive: true });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  mkdirSync(layout.caDir, { recursive: true });
  writeFileSync(layout.rootCert, "");
  return {
    layout,
    part: hostPart(
      { layout, config: {}, release: { tree: [] as object[] } as ReleaseManifest },
      jobHost({ trustFile: layout.rootCert }),
      declared,
    ),
  };
}

function unmount(layout: Layout): void {
  for (const path of [["graph", "overlay"], ["graph"]])
    spawnSync("umount", [layout.run("podman", ...path)]);
}

t.test(
  "the container engine runs in a folder of its own, so that nothing it leaves lies on the host",
  async (t) => {
    const { layout, part } = podman(t, "pt");
    await part.prepare?.();
    const running = await part.start();
    const folder = readlinkSync(`/proc/${running.pid}/cwd`);
    // Before the test's folder is removed: its storage makes a mount of itself as soon as it has come so far.
    running.stop();
    await running.exited;
    unmount(layout);
    t.equal(folder, layout.run("podman"));
  },
);

t.test(
  "what an engine that is killed was pulling lies in the appliance's own folder, and the next start removes it",
  async (t) => {
    const { layout, part } = podman(t, "pp");
    const registry = await registryThatStalls(t);
    const pulling = layout.data("podman", "pulling");
    const files = () => readdirSync(pulling, { recursive: true }).length;
    await part.prepare?.();
    const running = await part.start();
    while (!(await part.isHealthy())) await sleep(50);
    const pull = request({
      socketPath: layout.podmanSocket,
      method: "POST",
      path: `/v4.0.0/libpod/images/pull?reference=${registry}/one@${MANIFEST.digest}&tlsVerify=false`,
    });
    pull.on("error", () => {});
    pull.end();
    const deadline = performance.now() + 120_000;
    while (files() === 0 && performance.now() < deadline) await sleep(50);
    const whilePulling = files();
    process.kill(running.pid!, "SIGKILL");
    await running.exited;
    const afterKill = files();
    await part.prepare?.();
    const afterStart = files();
    unmount(layout);
    t.ok(whilePulling > 0, "the engine keeps it there");
    t.ok(afterKill > 0, "killed, it leaves it");
    t.equal(afterStart, 0);
  },
);

const blob = (bytes: Buffer) => ({
  bytes,
  digest: `sha256:${hash("sha256", bytes, "hex")}`,
  size: bytes.length,
});
const LAYER = blob(randomBytes(4_194_304));
const CONFIG = blob(
  Buffer.from(
    JSON.stringify({
      architecture: "amd64",
      os: "linux",
      rootfs: { type: "layers", diff_ids: [LAYER.digest] },
    }),
  ),
);
const MANIFEST = blob(
  Buffer.from(
    JSON.stringify({
      schemaVersion: 2,
      mediaType: "application/vnd.oci.image.manifest.v1+json",
      config: {
        mediaType: "application/vnd.oci.image.config.v1+json",
        digest: CONFIG.digest,
        size: CONFIG.size,
      },
      layers: [
        {
          mediaType: "application/vnd.oci.image.layer.v1.tar",
          digest: LAYER.digest,
          size: LAYER.size,
        },
      ],
    }),
  ),
);

/** Serves one image, and of its layer the first half alone. */
async function registryThatStalls(t: Test): Promise<string> {
  const server = createServer(({ url = "" }, response: ServerResponse) => {
    if (url === "/v2/") response.end("{}");
    else if (url.includes("/manifests/"))
      response
        .setHeader("content-type", "application/vnd.oci.image.manifest.v1+json")
        .end(MANIFEST.bytes);
    else if (url.endsWith(CONFIG.digest)) response.end(CONFIG.bytes);
    else
      response
        .setHeader("content-length", LAYER.size)
        .write(LAYER.bytes.subarray(0, LAYER.size / 2));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
