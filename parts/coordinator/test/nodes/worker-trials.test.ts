/** With which image a node tries its workers. */
import { AGENT_PROTOCOL, type Inventory } from "@resontech/contracts/agent-protocol";
import type { JobImage } from "@resontech/contracts/coordinator-config";
import { versionsOf } from "@resontech/contracts/protocol-versions";
import t from "tap";
import { RegistryPasswords } from "../../src/identity/registry-passwords.ts";
import { trialPull } from "../../src/nodes/pull-passwords.ts";
import { KernelWorld } from "../kernel/kernel-world.ts";

const image = (profile: string, needs?: JobImage["needs"]): JobImage => ({
  ...{ profile, reference: `box:5000/resontech/${profile}@sha256:${"a".repeat(64)}` },
  ...{ sizeBytes: 1, packages: {}, pythonVersion: "3.13" },
  ...(needs === undefined ? {} : { needs }),
});
const IMAGES = [
  image("fl-cpu"),
  image("fl-cuda13", { vendor: "nvidia", leastDriver: "580", architectures: ["7.5"] }),
  image("fl-cuda12", { vendor: "nvidia", leastDriver: "525.60.13", architectures: ["6.1"] }),
];
const gpu = (n: number, architecture: string, vendor: "nvidia" | "amd" = "nvidia") => ({
  ...{ id: `node-a-${n}`, kind: "gpu" as const, model: "t4", memoryBytes: 1, vendor },
  // Workers on trial are told as not healthy.
  ...{ healthy: false, onTrial: true, device: `GPU-${n}`, driver: "550.1", architecture },
});

async function registered(workers: Inventory["workers"]) {
  const world = new KernelWorld();
  t.teardown(() => world[Symbol.dispose]());
  world.admit("node-a");
  world.admit("node-b");
  const inventory: Inventory = {
    ...{ hostname: "a", os: "o", kernel: "k", cpuModel: "c", cpuCores: 2, memoryBytes: 17e9 },
    ...{ diskFreeBytes: 1e11, containerEngine: "podman", workers },
  };
  const protocol = versionsOf(AGENT_PROTOCOL);
  const request = { protocol, bootId: "b", agentVersion: "1", inventory, held: [] };
  const { commit, registry, db } = world.parts;
  const { nodeEpoch } = await commit.run(() => registry.register("node-a", request));
  const passwords = new RegistryPasswords(() => world.nowMs);
  const ask = (worker: string, node = "node-a") =>
    trialPull(
      { db, images: IMAGES, passwords },
      { kind: "node", node, by: "certificate" },
      {
        nodeEpoch,
        worker,
      },
    );
  return { world, ask, passwords };
}

t.test("a worker is tried with the image that a job on it would run", async (t) => {
  const cpu = { id: "node-a-9", kind: "cpu" as const, model: "cpu", memoryBytes: 1, healthy: true };
  const { ask, passwords } = await registered([gpu(0, "6.1"), gpu(1, "gfx942", "amd"), cpu]);
  t.match(ask("node-a-9").pull, { image: /fl-cpu/ });
  const { pull, noImage } = ask("node-a-0");
  t.match(pull, { image: /fl-cuda12/ });
  t.equal(noImage, null);
  const granted = await passwords.use(pull!.username, pull!.password, async (grant) => grant);
  t.match(granted, { repository: "resontech/fl-cuda12", audit: { node: "node-a" } });
  t.same(ask("node-a-1"), { pull: null, noImage: "of a vendor (amd) that no image is for" });
});

t.test("a node asks for its own workers alone", async (t) => {
  const { ask } = await registered([gpu(0, "6.1")]);
  t.throws(() => ask("node-a-0", "node-b"), { code: "not_found" });
  t.throws(() => ask("node-a-7"), { code: "not_found" });
});

t.test("the operator is told that a worker is on trial", async (t) => {
  const { world } = await registered([gpu(0, "6.1")]);
  t.match(world.parts.fleetViews.nodeHealth()[0]?.unhealthy, [
    { worker: "node-a-0", reason: "its agent does not say why", onTrial: true },
  ]);
});
