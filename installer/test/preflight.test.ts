import t from "tap";
import { check, type HostFacts, type Wanted } from "../src/preflight/checks.ts";
import { chooseHostTools, describeTools, toolsFor, versionIn } from "../src/preflight/tools.ts";
import { immutableChange } from "../src/preflight/immutable-change.ts";
import { config } from "./helper/request.ts";

const GIB = 1024 ** 3;
const disk = {
  path: "/opt",
  freeBytes: 100 * GIB,
  freeInodes: 1_000_000,
  demands: [{ part: "programs", bytes: 5 * GIB }],
  neededInodes: 200_000,
  logReserveBytes: 5 * GIB,
};
const found = { path: "/usr/bin/tool", version: "1.2" };
const good: HostFacts = {
  platform: "linux",
  arch: "x64",
  kernel: "6.1.0-18-amd64",
  uid: 0,
  memoryBytes: 16 * GIB,
  cpuCount: 8,
  disks: [disk],
  tools: Object.fromEntries(Object.keys(toolsFor("podman")).map((tool) => [tool, found])),
  engineVersion: "4.3.1",
  runc: { version: "1.3.3", build: "" },
  portsInUse: [],
  jobPortsInUse: [],
  rootState: "free",
  closedParent: null,
  instanceIsTaken: false,
  rootIsNoexec: false,
  rootFileSystemType: 0xef_53,
  cgroup: 2,
  hasLoopDevices: true,
  hasOverlay: true,
  localAddresses: ["127.0.0.1", "10.1.2.3"],
  nameResolvesTo: ["10.1.2.3"],
  clockS: Date.UTC(2026, 10) / 1000,
  usersInRange: [],
  jobUsersInRange: [],
  shared: [],
  selinuxEnforces: false,
  fapolicydRuns: false,
  fipsMode: false,
};
const wanted: Wanted = {
  root: "/opt/resontech",
  config,
  hostTools: "host",
  bundledTools: {},
  clockFloorS: Date.UTC(2026, 9) / 1000,
};

t.test("the room that the audit log will hold back is told with the disk", async (t) => {
  const told = check(good, wanted).find(({ id }) => id === "disk /opt");
  t.match(told?.found, /^100.* free, 5.* needed: programs 5.0; the audit log holds back 5/);
  t.match(told?.found, /warns below 10.*, and has new jobs refused below 5/);
});

t.test("a good host passes every check", async (t) => {
  t.same(
    check(good, wanted).filter((finding) => !finding.ok),
    [],
  );
});

const bad: [string, Partial<HostFacts>, Partial<Wanted>?][] = [
  ["root-user", { uid: 1000 }],
  ["platform", { arch: "arm64" }],
  ["kernel", { kernel: "4.18.0-553.el8" }],
  ["kernel", { kernel: "4.17.19", cgroup: 1 }],
  ["memory", { memoryBytes: GIB }],
  ["cpu", { cpuCount: 1 }],
  ["disk /opt", { disks: [{ ...disk, freeBytes: 1024 }] }],
  ["inodes /opt", { disks: [{ ...disk, freeInodes: 10 }] }],
  ["container-engine", { tools: { ...good.tools, podman: null } }],
  ["container-engine-version", { engineVersion: "3.4.4" }],
  ["container-engine-version", { engineVersion: null }],
  ["tool-nft", { tools: { ...good.tools, nft: null } }],
  ["tool-netavark", { tools: { ...good.tools, netavark: null } }],
  ["ports", { portsInUse: [8000] }],
  [
    "ports-distinct",
    {},
    { config: { ...config, ports: { ...config.ports, s3: config.ports.api } } },
  ],
  ["job-ports", { jobPortsInUse: [29_003] }],
  ["job-ports", {}, { config: { ...config, jobPorts: { from: 7_990, to: 8_010 } } }],
  ["job-users", { jobUsersInRange: ["user carol"] }],
  ["job-users", {}, { config: { ...config, jobUids: { from: 64_000, to: 69_999 } } }],
  ["job-users", {}, { config: { ...config, jobUids: { from: 700_000, to: 700_009 } } }],
  ["root-free", { rootState: "foreign" }],
  ["root-reachable", { closedParent: "/root" }],
  ["root-exec", { rootIsNoexec: true }],
  ["instance", { instanceIsTaken: true }],
  ["cgroups", { cgroup: null }],
  ["overlay", { hasOverlay: false }],
  ["loop-devices", { hasLoopDevices: false }],
  ["address", { localAddresses: ["127.0.0.1"] }],
  ["name", { nameResolvesTo: [] }],
  ["clock", { clockS: 0 }],
];
const suspect: [string, Partial<HostFacts>][] = [
  ["users", { usersInRange: ["carol"] }],
  ["copy-on-write", { rootFileSystemType: 0x91_23_68_3e }],
  ["copy-on-write", { rootFileSystemType: 0x2f_c1_2f_c1 }],
  ["runc-escapes", { runc: { version: "1.1.5+ds1", build: "1.1.5+ds1-1+deb12u1" } }],
  ["selinux", { selinuxEnforces: true }],
  ["fapolicyd", { fapolicydRuns: true }],
  ["fips", { fipsMode: true }],
];

for (const [id, facts, change] of bad) {
  t.test(`${id}: a host that lacks it is told what was found and what to do`, async (t) => {
    const failed = check({ ...good, ...facts }, { ...wanted, ...change }).filter(
      (finding) => !finding.ok,
    );
    t.same(
      failed.map((finding) => [finding.id, finding.severity]),
      [[id, "error"]],
    );
    t.ok((failed[0]?.found.length ?? 0) > 0 && (failed[0]?.remedy.length ?? 0) > 10);
  });
}

for (const [id, facts] of suspect) {
  t.test(`${id}: a warning that does not keep the install from going on`, async (t) => {
    const failed = check({ ...good, ...facts }, wanted).filter((finding) => !finding.ok);
    t.same(
      failed.map((finding) => [finding.id, finding.severity]),
      [[id, "warning"]],
    );
  });
}

t.test(
  "a kernel that is too old is told which features it lacks, and from which version on they are there",
  async (t) => {
    const found = check({ ...good, kernel: "4.14.0" }, wanted).find(({ id }) => id === "kernel");
    t.match(found, {
      found: /4\.14\.0 lacks .*Node 26.*, since 4\.18; the freezer .*, since 5\.2$/,
      remedy: /Linux 5\.2 or newer/,
    });
    t.equal(
      check({ ...good, kernel: "4.18.0-553.el8", cgroup: 1 }, wanted).find(
        ({ id }) => id === "kernel",
      )?.ok,
      true,
    );
  },
);

t.test("Docker must be able to read the images' layers", async (t) => {
  const docker = {
    ...config,
    containerEngine: { kind: "docker", socket: "/var/run/docker.sock" },
  } as const;
  const tools = Object.fromEntries(Object.keys(toolsFor("docker")).map((tool) => [tool, found]));
  const failedWith = (engineVersion: string): string[] =>
    check({ ...good, tools, engineVersion }, { ...wanted, config: docker }).flatMap(({ id, ok }) =>
      ok ? [] : [id],
    );
  t.same(failedWith("20.10.24+dfsg1"), ["container-engine-version"]);
  t.same(failedWith("26.1.5+dfsg1"), []);
});

t.test("each program is named with whose it is, its version and what it is for", async (t) => {
  const lines = describeTools(
    "podman",
    { nft: { path: "/usr/sbin/nft", version: "1.0.6" }, ip: { path: "/sbin/ip", version: null } },
    "v26.10.0",
    { source: "host", bundled: { nft: "1.0.6-2" } },
  );
  t.same(lines, [
    "node: ours, v26.10.0, for every process of ours",
    "ip: the host's, of no version that it says (/sbin/ip), for bridges of jobs",
    "nft: the host's, 1.0.6 (/usr/sbin/nft), for the firewall of jobs",
  ]);
  const said = [
    "mke2fs 1.47.0 (5-Feb-2023)",
    "ip utility, iproute2-6.1.0, libbpf 1.1.0",
    "nftables v1.0.6 (Lester Gooch #5)",
    "no idea",
  ];
  t.same(said.map(versionIn), ["1.47.0", "6.1.0", "1.0.6", null]);
});

t.test(
  "a host without tools passes with those of the bundle, and they are named as ours",
  async (t) => {
    const bundledTools = Object.fromEntries(
      Object.keys(toolsFor("podman"))
        .filter((name) => name !== "sync")
        .map((name) => [name, "1.2-3"]),
    );
    const tools = { sync: found };
    const failed = (change: Partial<Wanted>): string[] =>
      check({ ...good, tools, engineVersion: null }, { ...wanted, ...change }).flatMap(
        ({ id, ok }) => (ok ? [] : [id]),
      );
    t.same(failed({ hostTools: "bundle", bundledTools }), []);
    t.ok(failed({ hostTools: "host", bundledTools }).includes("container-engine"));
    const lines = describeTools("podman", tools, "v26.10.0", {
      source: "bundle",
      bundled: bundledTools,
    });
    t.ok(lines.includes("podman: ours, 1.2-3, for containers"));
    t.ok(lines.some((line) => line.startsWith("sync: the host's")));
  },
);

t.test(
  "whose tools are called: the host's where it has them all and a Podman that will do",
  async (t) => {
    const bundled = { podman: "4.3.1", runc: "1.1.5", nft: "1.0.6" };
    const all = Object.fromEntries(Object.keys(toolsFor("podman")).map((name) => [name, found]));
    t.equal(chooseHostTools("podman", all, true, bundled), "host");
    t.equal(chooseHostTools("podman", all, false, bundled), "bundle", "Podman 3");
    t.equal(chooseHostTools("podman", { ...all, nft: null }, true, bundled), "bundle");
    t.equal(chooseHostTools("podman", {}, false, {}), "host", "a bundle that brings none");
    const docker = { nft: found, docker: found };
    t.equal(chooseHostTools("docker", docker, false, bundled), "host", "Docker's age is its own");
    t.equal(chooseHostTools("docker", { docker: found }, true, bundled), "bundle");
  },
);

t.test("with Docker as the engine, Podman's tools are not asked for", async (t) => {
  t.ok("docker" in toolsFor("docker"));
  t.notOk("podman" in toolsFor("docker"));
});

t.test(
  "what can't change once installed is refused by the name of its flag, what may change is not",
  async (t) => {
    const refused = (change: Partial<typeof config>): string[] =>
      immutableChange(config, { ...config, ...change }).flatMap(({ id, ok }) => (ok ? [] : [id]));
    t.same(refused({ bucketQuotaBytes: 1 }), []);
    t.same(refused({ customer: "other", keyKind: "dev" }), [
      "unchanged-customer",
      "unchanged-key-kind",
    ]);
  },
);
