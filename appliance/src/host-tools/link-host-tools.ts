import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { HOST_TOOLS, HOST_TOOLS_HOME } from "@resontech/contracts/release-manifest";
import { toolsHome } from "./tools-environment.ts";

/** Beside each link, the appliances of this host that use it: a link to the tools of each, by its instance. */
const USERS = ".users";

/**
 * Lets the tools of this release find their loader and libraries: `/run/resontech-tools/<digest>` leads to their folder. Another appliance of the
 * same release may have made the link; it has the same files, so it stays. Safe to repeat; nothing survives a boot.
 *
 * @param release folder of the release that runs
 */
export function linkHostTools(release: string, instance: string, home = toolsHome(release)): void {
  if (home === null) return;
  const tools = realpathSync(join(release, HOST_TOOLS));
  mkdirSync(`${home}${USERS}`, { recursive: true, mode: 0o755 });
  replaceLink(join(`${home}${USERS}`, instance), tools);
  if (!existsSync(home)) replaceLink(home, tools);
}

/** Takes back what {@link linkHostTools} made for the appliance below `root`; others of this host keep a link that leads somewhere. */
export function unlinkHostTools(root: string, base = HOST_TOOLS_HOME): void {
  if (!existsSync(base)) return;
  // The links were made to what a link above the root leads to.
  const real = existsSync(root) ? realpathSync(root) : root;
  for (const name of readdirSync(base).filter((entry) => entry.endsWith(USERS))) {
    const users = join(base, name);
    for (const user of readdirSync(users))
      if (leadsInto(join(users, user), real)) rmSync(join(users, user));
    const home = join(base, basename(name, USERS));
    const [other] = readdirSync(users);
    if (other === undefined) {
      rmSync(home, { force: true });
      rmdirSync(users);
    } else if (leadsInto(home, real)) replaceLink(home, readlinkSync(join(users, other)));
  }
  if (readdirSync(base).length === 0) rmdirSync(base);
}

function leadsInto(link: string, root: string): boolean {
  try {
    return readlinkSync(link).startsWith(`${root}/`);
  } catch {
    return false;
  }
}

/** Replaces a link in one step: a program that starts meanwhile finds the old or the new. */
function replaceLink(link: string, target: string): void {
  const beside = join(dirname(link), `.${basename(link)}.${process.pid}`);
  rmSync(beside, { force: true });
  symlinkSync(target, beside);
  renameSync(beside, link);
}
