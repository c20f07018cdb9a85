import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import type { NodeConfig } from "@resontech/contracts/node-config";
import t from "tap";
import { checkNode, type NodeHostFacts } from "../../src/preflight/node-checks.ts";
import { toolsFor } from "../../src/preflight/tools.ts";

const GIB = 1024 ** 3;
const config: NodeConfig = {
  ...{ formatVersion: 1, node: "gpu-2", instance: "node", address: "10.1.2.4", cpuWorkers: null },
  appliance: { name: "gpu.example", ports: { api: 8000, s3: 3900, registry: 5000, nats: 4222 } },
  ...{ jobPorts: DEFAULT_JOB_PORTS, jobUids: DEFAULT_JOB_UIDS },
  containerEngine: { kind: "podman" },
};
const disk = {
  path: "/opt",
  freeBytes: 90 * GIB,
  freeInodes: 1e6,
  demands: [{ part: "programs", bytes: GIB }],
  logReserveBytes: null,
  neededInodes: 1,
};
const good: NodeHostFacts = {
  ...{
    platform: "linux",
    arch: "x64",
    kernel: "6.1.0",
    uid: 0,
    memoryBytes: 16 * GIB,
    cpuCount: 8,
  },
  ...{ disks: [disk], engineVersion: "4.3.1", runc: { version: "1.3.3", build: "" } },
  tools: Object.fromEntries(
    Object.keys(toolsFor("podman")).map((tool) => [tool, { path: "/usr/bin/tool", version: "1" }]),
  ),
  ...{ portsInUse: [], jobPortsInUse: [], rootState: "free", closedParent: null },
  ...{ instanceIsTaken: false, rootIsNoexec: false, rootFileSystemType: 0xef_53, cgroup: 2 },
  ...{ hasLoopDevices: true, hasOverlay: true, localAddresses: ["127.0.0.1", "10.1.2.4"] },
  ...{ nameResolvesTo: ["10.1.2.3"], clockS: 1_800_000_000, usersInRange: [], jobUsersInRange: [] },
  shared: [],
  ...{ selinuxEnforces: false, fapolicydRuns: false, fipsMode: false },
  ...{ unreached: [], apiFailure: null, isAppliance: false, joinedAs: null },
};
const failed = (change: Partial<NodeHostFacts>, of: NodeConfig = config) =>
  checkNode(
    { ...good, ...change },
    {
      root: "/opt/resontech-node",
      config: of,
      hostTools: "host",
      bundledTools: {},
      clockFloorS: 1,
    },
  )
    .filter(({ ok }) => !ok)
    .map(({ id }) => id);

t.test("a good host passes every check, and one that joined as the same node does", async (t) => {
  t.same(failed({}), []);
  t.same(failed({ joinedAs: config, rootState: "ours" }), []);
});

const bad: [string, Partial<NodeHostFacts>, NodeConfig?][] = [
  ["root-user", { uid: 1000 }],
  ["tool-nft", { tools: { ...good.tools, nft: null } }],
  ["container-engine", { tools: { ...good.tools, podman: null } }],
  ["disk /opt", { disks: [{ ...disk, freeBytes: 1 }] }],
  ["root-free", { rootState: "foreign" }],
  ["root-kind", { isAppliance: true }],
  ["joined-before", { joinedAs: { ...config, node: "gpu-3" } }],
  ["joined-before", { joinedAs: { ...config, appliance: { ...config.appliance, name: "other" } } }],
  ["joined-before", { joinedAs: { ...config, instance: "another" } }],
  ["joined-before", { joinedAs: { ...config, containerEngine: { kind: "docker", socket: "/x" } } }],
  ["instance", { instanceIsTaken: true }],
  ["name", { nameResolvesTo: [] }],
  ["appliance-ports", { unreached: [4222] }],
  ["appliance-certificate", { apiFailure: "self-signed certificate" }],
  ["address", { localAddresses: ["10.9.9.9"] }],
  ["address", {}, { ...config, address: "127.0.0.1" }],
  ["job-ports", { jobPortsInUse: [29_000] }],
  ["job-users", { jobUsersInRange: ["user x"] }],
];
t.test("each thing that is missing is found, with what to do", async (t) => {
  for (const [id, change, of] of bad) t.same(failed(change, of), [id], id);
});

t.test("ports that the agent of a node holds are no hindrance to a second run", async (t) => {
  t.same(failed({ joinedAs: config, jobPortsInUse: [29_000] }), []);
});

t.test("all that is missing is said at once", async (t) => {
  t.same(failed({ uid: 1000, hasOverlay: false, nameResolvesTo: [], unreached: [8000] }), [
    "root-user",
    "overlay",
    "name",
    "appliance-ports",
  ]);
});
