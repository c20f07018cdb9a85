import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t, { type Test } from "tap";
import { type JoinFlags, toJoinRequest } from "../../src/node/join-options.ts";

function flags(t: Test, change: Partial<JoinFlags> = {}): JoinFlags {
  const dir = t.testdir({ key: "the key", "root.crt": "the root" });
  return {
    ...{ source: "https://gpu.example:8000/node/v1", key: join(dir, "key") },
    ...{ rootCert: join(dir, "root.crt"), appliance: "gpu.example", ports: "8000,3900,5000,4222" },
    ...{ node: "gpu-2", root: join(dir, "root"), address: "10.1.2.4", dryRun: false, json: false },
    ...change,
  };
}

t.test("what is not said has a default", async (t) => {
  const { config, tokenFile, keyPem, rootCertPem } = await toJoinRequest(flags(t));
  t.same(config, {
    ...{ formatVersion: 1, node: "gpu-2", instance: "node", address: "10.1.2.4", cpuWorkers: null },
    appliance: { name: "gpu.example", ports: { api: 8000, s3: 3900, registry: 5000, nats: 4222 } },
    jobPorts: { from: 29_000, to: 29_099 },
    jobUids: { from: 1_900_000_000, to: 1_900_065_535 },
    containerEngine: { kind: "podman" },
  });
  t.same([tokenFile, keyPem, rootCertPem], [null, "the key", "the root"]);
});

t.test("a second run keeps what the first was told, unless it is told otherwise", async (t) => {
  const told = flags(t, {
    instance: "second",
    jobPorts: "31000-31009",
    cpuWorkers: "3",
    engine: "docker",
  });
  const { config } = await toJoinRequest(told);
  mkdirSync(join(told.root, "etc"), { recursive: true });
  writeFileSync(join(told.root, "etc", "node.json"), JSON.stringify(config));
  const { key, rootCert, root } = told;
  const bare: JoinFlags = {
    ...{ source: told.source, appliance: told.appliance, ports: told.ports, node: told.node },
    ...{ key, rootCert, root, dryRun: false, json: false },
  };
  t.same((await toJoinRequest(bare)).config, config);
  t.same((await toJoinRequest({ ...bare, cpuWorkers: "5" })).config, { ...config, cpuWorkers: 5 });
});

t.test("what can't be used is named by its option", async (t) => {
  const bad: [string, Partial<JoinFlags>][] = [
    ["root", { root: "/opt/a b" }],
    ["ports", { ports: "8000,3900,5000" }],
    ["ports", { ports: "8000,3900,5000,4222,1" }],
    ["ports", { ports: "8000,3900,5000,x" }],
    ["node", { node: "GPU_2" }],
    ["appliance", { appliance: "gpu.example; reboot" }],
    ["instance", { instance: "../x" }],
    ["address", { address: "gpu.example" }],
    ["job-ports", { jobPorts: "30-20" }],
    ["job-uids", { jobUids: "x" }],
    ["engine", { engine: "lxc" }],
    ["cpu-workers", { cpuWorkers: "-1" }],
  ];
  for (const [option, change] of bad)
    await t.rejects(
      toJoinRequest(flags(t, change)),
      { code: "option_invalid", message: new RegExp(`^--${option}[ :]`) },
      option,
    );
});
