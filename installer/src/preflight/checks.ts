/** What the host must have, each check with an id, what it means and what to do. Pure: facts in, findings out. */
export type HostFacts = {
  platform: string;
  arch: string;
  kernel: string;
  uid: number;
  memoryBytes: number;
  cpuCount: number;
  freeBytes: number;
  /** Tool → found on PATH. */
  tools: Readonly<Record<string, boolean>>;
  /** Port → who could not be bound: null is free. */
  portsInUse: readonly number[];
  /** First parent of the root that other users can't search; null: none. */
  closedParent: string | null;
  rootIsNoexec: boolean;
  hasCgroups: boolean;
  hasLoopDevices: boolean;
  /** The name resolves to the address on this host. */
  nameResolvesTo: readonly string[];
  clockYear: number;
};

export type Wanted = {
  root: string;
  name: string;
  address: string;
  engine: "podman" | "docker";
  neededBytes: number;
  checkPorts: boolean;
};

export type Finding = { id: string; ok: boolean; severity: "error" | "warning"; found: string; remedy: string };

const GIB = 1024 ** 3;
const MIN_MEMORY_BYTES = 4 * GIB;

export function check(facts: HostFacts, wanted: Wanted): Finding[] {
  const findings: Finding[] = [];
  const add = (id: string, ok: boolean, found: string, remedy: string, severity: Finding["severity"] = "error"): void => {
    findings.push({ id, ok, severity, found, remedy });
  };
  add("root-user", facts.uid === 0, `uid ${facts.uid}`, "run install.sh as root");
  add(
    "platform",
    facts.platform === "linux" && facts.arch === "x64",
    `${facts.platform} ${facts.arch}`,
    "use a 64-bit x86 Linux host",
  );
  add("kernel", isKernelAtLeast(facts.kernel, 5, 10), facts.kernel, "use Linux 5.10 or newer");
  add(
    "memory",
    facts.memoryBytes >= MIN_MEMORY_BYTES,
    `${(facts.memoryBytes / GIB).toFixed(1)} GiB`,
    "give this host 4 GiB or more",
  );
  add("cpu", facts.cpuCount >= 2, `${facts.cpuCount} cores`, "give this host 2 cores or more");
  add(
    "disk",
    facts.freeBytes >= wanted.neededBytes,
    `${(facts.freeBytes / GIB).toFixed(1)} GiB free, ${(wanted.neededBytes / GIB).toFixed(1)} GiB needed`,
    `free space on the file system of ${wanted.root}, or choose another --root`,
  );
  add(
    `container-engine`,
    facts.tools[wanted.engine] === true,
    facts.tools[wanted.engine] === true ? wanted.engine : `${wanted.engine} is missing`,
    `install ${wanted.engine} (Debian: apt-get install podman runc netavark aardvark-dns), or choose --engine`,
  );
  for (const [tool, source] of Object.entries(TOOLS)) {
    add(`tool-${tool}`, facts.tools[tool] === true, facts.tools[tool] === true ? "found" : "missing", `install ${source}`);
  }
  if (wanted.checkPorts)
    add(
      "ports",
      facts.portsInUse.length === 0,
      facts.portsInUse.length === 0 ? "free" : `in use: ${facts.portsInUse.join(", ")}`,
      "stop what listens there, or choose other ports (--port-api …)",
    );
  add(
    "root-reachable",
    facts.closedParent === null,
    facts.closedParent === null ? "searchable" : `${facts.closedParent} can't be searched by other users`,
    "choose a --root whose parents have mode o+x: the parts run under users of their own",
  );
  add(
    "root-exec",
    !facts.rootIsNoexec,
    facts.rootIsNoexec ? "mounted noexec" : "may execute",
    "choose a --root on a file system that is not mounted noexec",
  );
  add(
    "cgroups",
    facts.hasCgroups,
    facts.hasCgroups ? "mounted" : "not mounted",
    "mount cgroups: job containers are limited by them",
  );
  add(
    "loop-devices",
    facts.hasLoopDevices,
    facts.hasLoopDevices ? "present" : "no /dev/loop-control",
    "load the kernel module loop: each job member gets a file system of limited size",
  );
  const resolves = facts.nameResolvesTo.includes(wanted.address);
  add(
    "name",
    resolves,
    facts.nameResolvesTo.length === 0 ? `${wanted.name} does not resolve` : `${wanted.name} → ${facts.nameResolvesTo.join(", ")}`,
    `make ${wanted.name} resolve to ${wanted.address} on this host, the nodes and the clients (DNS or /etc/hosts)`,
  );
  add(
    "clock",
    facts.clockYear >= 2026 && facts.clockYear < 2100,
    `year ${facts.clockYear}`,
    "set the clock: certificates and the audit log state times",
  );
  return findings;
}

/** Programs that running parts call, and the package that carries each. */
export const TOOLS: Readonly<Record<string, string>> = {
  mount: "util-linux",
  losetup: "util-linux",
  "mkfs.ext4": "e2fsprogs",
  ip: "iproute2",
  nft: "nftables",
  // netavark, Podman's network back end, calls it for every network.
  iptables: "iptables",
  openssl: "openssl",
  sync: "coreutils",
};

function isKernelAtLeast(kernel: string, major: number, minor: number): boolean {
  const [a = 0, b = 0] = kernel.split(".").map((part) => Number.parseInt(part, 10));
  return a > major || (a === major && b >= minor);
}
