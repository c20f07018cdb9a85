import { existsSync, lstatSync, readdirSync, readlinkSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { Layout } from "@resontech/frame/layout";

/** The releases that lie on this host: the one that runs, then the others, those that came last first. */
export function readReleases({ root, current }: Layout): ApplianceFacts["releases"] {
  const folder = join(root, "releases");
  if (!existsSync(folder) || !existsSync(current)) return [];
  const running = basename(readlinkSync(current));
  return readdirSync(folder)
    .map((name) => {
      const isCurrent = name === running;
      const { mtimeMs } = isCurrent ? lstatSync(current) : statSync(join(folder, name));
      // A folder is named for its version and the beginning of its digest.
      const version = name.slice(0, Math.max(0, name.lastIndexOf("-"))) || name;
      return { version, isCurrent, since: Math.round(mtimeMs) };
    })
    .toSorted((a, b) => Number(b.isCurrent) - Number(a.isCurrent) || b.since - a.since)
    .slice(0, 16);
}
