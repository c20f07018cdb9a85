import { accessSync, constants, existsSync, readFileSync, statfsSync, statSync } from "node:fs";
import { lookup } from "node:dns/promises";
import { createServer } from "node:net";
import { availableParallelism, release, totalmem } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { type HostFacts, TOOLS } from "./checks.ts";

/** Looks at the host; changes nothing. */
export async function readHostFacts(root: string, config: ApplianceConfig): Promise<HostFacts> {
  const existing = nearestExisting(root);
  const disk = statfsSync(existing);
  const { ports, address } = config;
  const perimeter = [ports.api, ports.s3, ports.registry, ports.nats].map((port) => ({ host: address, port }));
  const loopback = [ports.keycloak, ports.keycloakManagement, ports.postgres].map((port) => ({ host: "127.0.0.1", port }));
  const inUse = await Promise.all(
    [...perimeter, ...loopback].map(async ({ host, port }) => ((await canListen(host, port)) ? null : port)),
  );
  return {
    platform: process.platform,
    arch: process.arch,
    kernel: release(),
    uid: process.getuid?.() ?? -1,
    memoryBytes: totalmem(),
    cpuCount: availableParallelism(),
    freeBytes: disk.bavail * disk.bsize,
    tools: Object.fromEntries([...Object.keys(TOOLS), "podman", "docker"].map((tool) => [tool, isOnPath(tool)])),
    portsInUse: inUse.filter((port) => port !== null),
    closedParent: closedParentOf(root),
    rootIsNoexec: isNoexec(existing),
    hasCgroups: existsSync("/sys/fs/cgroup/cgroup.controllers") || existsSync("/sys/fs/cgroup/memory"),
    hasLoopDevices: existsSync("/dev/loop-control"),
    nameResolvesTo: await lookup(config.name, { all: true }).then(
      (answers) => answers.map((answer) => answer.address),
      () => [],
    ),
    clockYear: new Date().getUTCFullYear(),
  };
}

function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

function isOnPath(tool: string): boolean {
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/sbin"];
  return folders.some((folder) => {
    try {
      accessSync(join(folder, tool), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

async function canListen(host: string, port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(true)));
  });
}

function closedParentOf(root: string): string | null {
  for (let folder = dirname(root); ; folder = dirname(folder)) {
    if (existsSync(folder) && (statSync(folder).mode & 0o001) === 0) return folder;
    if (folder === dirname(folder)) return null;
  }
}

/** The mount of the longest prefix decides. */
function isNoexec(path: string): boolean {
  const mounts = readFileSync("/proc/self/mounts", "utf8")
    .split("\n")
    .map((line) => line.split(" "))
    .filter(([, at = ""]) => path === at || path.startsWith(at.endsWith("/") ? at : `${at}/`))
    .sort(([, a = ""], [, b = ""]) => b.length - a.length);
  return mounts[0]?.[3]?.split(",").includes("noexec") ?? false;
}
