import { spawnSync } from "node:child_process";
import { mkdirSync, readlinkSync, rmSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import t from "tap";
import { Layout } from "../../src/layout.ts";
import { podmanPart } from "../../src/parts/podman.ts";

t.test("the container engine runs in a folder of its own, so that nothing it leaves lies on the host", async (t) => {
  const layout = new Layout(t.testdir(), `pt${process.pid}`);
  mkdirSync(layout.run(), { recursive: true });
  mkdirSync(layout.log(""), { recursive: true });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { name: "localhost", ports: { registry: 5000 }, instance: layout.instance } as ApplianceConfig;
  const part = podmanPart({ config, layout, release: {} as ReleaseManifest }, () => Buffer.from(""), "0");
  await part.prepare?.();
  const running = await part.start();
  const folder = readlinkSync(`/proc/${running.pid}/cwd`);
  // Before the test's folder is removed: its storage makes a mount of itself as soon as it has come so far.
  running.stop();
  await running.exited;
  spawnSync("umount", [layout.data("podman", "storage", "overlay")]);
  t.equal(folder, layout.run("podman"));
});
