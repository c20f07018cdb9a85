import t from "tap";
import { check, type HostFacts, TOOLS, type Wanted } from "../src/preflight/checks.ts";

const good: HostFacts = {
  platform: "linux",
  arch: "x64",
  kernel: "6.1.0-18-amd64",
  uid: 0,
  memoryBytes: 16 * 1024 ** 3,
  cpuCount: 8,
  freeBytes: 100 * 1024 ** 3,
  tools: Object.fromEntries([...Object.keys(TOOLS), "podman"].map((tool) => [tool, true])),
  portsInUse: [],
  closedParent: null,
  rootIsNoexec: false,
  hasCgroups: true,
  hasLoopDevices: true,
  nameResolvesTo: ["10.1.2.3"],
  clockYear: 2026,
};
const wanted: Wanted = {
  root: "/opt/resontech",
  name: "gpu.example",
  address: "10.1.2.3",
  engine: "podman",
  neededBytes: 5 * 1024 ** 3,
  checkPorts: true,
};

t.test("a good host passes every check", async (t) => {
  t.same(
    check(good, wanted).filter((finding) => !finding.ok),
    [],
  );
});

const bad: [string, Partial<HostFacts>][] = [
  ["root-user", { uid: 1000 }],
  ["platform", { arch: "arm64" }],
  ["kernel", { kernel: "5.4.0" }],
  ["memory", { memoryBytes: 1024 ** 3 }],
  ["cpu", { cpuCount: 1 }],
  ["disk", { freeBytes: 1024 }],
  ["container-engine", { tools: { ...good.tools, podman: false } }],
  ["tool-nft", { tools: { ...good.tools, nft: false } }],
  ["ports", { portsInUse: [8000] }],
  ["root-reachable", { closedParent: "/root" }],
  ["root-exec", { rootIsNoexec: true }],
  ["cgroups", { hasCgroups: false }],
  ["loop-devices", { hasLoopDevices: false }],
  ["name", { nameResolvesTo: [] }],
  ["clock", { clockYear: 1970 }],
];
for (const [id, facts] of bad) {
  t.test(`${id}: a host that lacks it is told what was found and what to do`, async (t) => {
    const failed = check({ ...good, ...facts }, wanted).filter((finding) => !finding.ok);
    t.same(
      failed.map((finding) => finding.id),
      [id],
    );
    t.ok((failed[0]?.found.length ?? 0) > 0 && (failed[0]?.remedy.length ?? 0) > 10);
  });
}
