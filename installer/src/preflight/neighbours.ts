/** Other installs of ours on this host: those that systemd knows, and those that run. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readNodeConfig } from "@resontech/appliance/node-context";
import { type ApplianceConfig, DEFAULT_PORTS } from "@resontech/contracts/appliance-config";
import { DEFAULT_JOB_PORTS } from "@resontech/contracts/port-range";
import { DEFAULT_JOB_UIDS } from "@resontech/contracts/uid-range";
import { userOffsets } from "@resontech/parts";
import { isNode } from "../node-root.ts";
import type { Neighbour } from "./shared-numbers.ts";

const UNITS = "/etc/systemd/system";
const UNIT = /^resontech-.+\.service$/;
/** As the unit and the supervisor's own command line have it. */
const ROOT = /\/current\/\S+[\s\0]--root[\s\0]([^\s\0]+)[\s\0]supervise/;

/** @param root whose neighbours are meant */
export function readNeighbours(root: string): Neighbour[] {
  const texts = [
    ...namesIn(UNITS)
      .filter((name) => UNIT.test(name))
      .map((name) => join(UNITS, name)),
    ...namesIn("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => `/proc/${pid}/cmdline`),
  ].map(textOf);
  const roots = new Set(texts.flatMap((text) => ROOT.exec(text)?.[1] ?? []));
  roots.delete(root);
  return [...roots].flatMap((other) => readNeighbour(other) ?? []);
}

/** Reads what another install takes; null where its configuration is gone, or of a release that says it otherwise. */
function readNeighbour(root: string): Neighbour | null {
  try {
    if (isNode(root)) {
      const { jobUids, jobPorts, address } = readNodeConfig(root);
      return { root, uids: [], ports: [], jobUids, jobPorts, address };
    }
    const file = join(root, "etc", "appliance.json");
    if (!existsSync(file)) return null;
    const config = JSON.parse(readFileSync(file, "utf8")) as ApplianceConfig;
    return {
      ...{ root, address: config.address },
      uids: userOffsets().map((offset) => config.uidBase + offset),
      ports: Object.values({ ...DEFAULT_PORTS, ...config.ports }),
      jobUids: config.jobUids ?? DEFAULT_JOB_UIDS,
      jobPorts: config.jobPorts ?? DEFAULT_JOB_PORTS,
    };
  } catch {
    return null;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
