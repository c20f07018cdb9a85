/**
 * Other distributions at their smallest, with this machine's kernel. On each: `install.sh` checks the medium, Node runs from the medium's blobs and
 * from a tree, and both native packages load. On those of {@link WHOLE_LIFE}, in a network without a route: install, job, restart, a killed engine,
 * uninstall.
 *
 * `npm run prove -- hosts`, or `npm run prove -- hosts "Debian 13"` for one
 */
import { existsSync, linkSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DsseEnvelope, ReleaseFile } from "@resontech/contracts/release-manifest";
import { buildOwnBundle, type BundleSummary, repository } from "@resontech/house/local-appliance";
import { builtOutside, runInside } from "./network/run-inside.ts";
import { lifeOnHost } from "./hosts/life-on-host.ts";
import { DISTRIBUTIONS, type Distribution, MinimalHost } from "./hosts/minimal-host.ts";
import { inOwnNetwork } from "./hosts/own-network.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

/** Loads both, the way the product does, and uses the one that can be used without a token. */
const LOAD = `
const { createRequire } = require("node:module");
const from = createRequire("/medium/app/");
const db = new (from("better-sqlite3"))(":memory:");
from("pkcs11js");
console.log(db.prepare("select 6 * 7 as n").get().n);
`;

const NOEXEC = `
mount -o remount,bind,ro,noexec /medium
sh /medium/install.sh --root /opt/made/root --help
[ ! -e /opt/made ]`;

type HostFigures = {
  host: string;
  glibc: string;
  openssl: string;
  /** Which of Node's libraries the host has of its own. */
  has_libatomic: boolean;
  install_sh: number | null;
  node_on_medium: string;
  node_in_tree: string;
  /** From a medium that is mounted noexec, by a copy below the root that is gone afterwards. */
  install_sh_noexec: number | null;
  addons: boolean;
  /** A medium with one bit changed in its signature, and in its verifier. */
  changed_medium_refused: boolean;
  /** Null: not lived there. */
  life: ProofResult | null;
};

/** Without OpenSSL 3, Podman, nft, ip and mkfs.ext4 of their own. */
const WHOLE_LIFE = ["Debian 11", "Debian 12", "Debian 13", "Debian 13 with Docker"];

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const inside = builtOutside(args) as BundleSummary | undefined;
  if (inside !== undefined)
    return await lifeOnHost(progress, inside, args.at(-2) ?? "", args.at(-1) === "docker");

  progress("building the bundle");
  const built = await buildOwnBundle();
  const { bundle } = built;
  const tree = stage(bundle);
  try {
    const hosts: HostFigures[] = [];
    const chosen = DISTRIBUTIONS.filter(({ name }) => args.length === 0 || args.includes(name));
    for (const distribution of chosen)
      hosts.push(await tryHost(distribution, built, tree, progress));
    const version = `v${process.versions.node}`;
    const failed = hosts.filter(
      (host) =>
        host.install_sh !== 0 ||
        host.install_sh_noexec !== 0 ||
        host.node_on_medium !== version ||
        host.node_in_tree !== version ||
        !host.addons ||
        !host.changed_medium_refused ||
        host.life?.ok === false,
    );
    return { ok: failed.length === 0, figures: { hosts, failed: failed.map(({ host }) => host) } };
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

async function tryHost(
  distribution: Distribution,
  built: BundleSummary,
  tree: string,
  progress: ProofContext["progress"],
): Promise<HostFigures> {
  progress(`${distribution.name}: fetching it`);
  const { bundle } = built;
  using host = await MinimalHost.make(distribution);
  const line = (medium: string, ...command: string[]): string =>
    host.run(medium, command).stdout.trim();
  const node = `/medium/blobs/sha256/${sumOf(bundle, "bin/node")}`;
  const install = host.run(bundle, ["sh", "/medium/install.sh", "--help"]);
  const figures: HostFigures = {
    host: distribution.name,
    glibc: /\d+\.\d+$/m.exec(line(bundle, "ldd", "--version"))?.[0] ?? "none",
    openssl: line(bundle, "sh", "-c", "openssl version 2>/dev/null || echo none")
      .split(" ")
      .slice(0, 2)
      .join(" "),
    has_libatomic: line(bundle, "sh", "-c", "ls /usr/lib/*/libatomic.so.1 2>/dev/null || :") !== "",
    install_sh: install.status,
    node_on_medium: line(bundle, node, "--version"),
    node_in_tree: line(tree, "/medium/bin/node", "--version"),
    install_sh_noexec: host.run(bundle, ["sh", "-euc", NOEXEC]).status,
    addons: line(tree, "/medium/bin/node", "-e", LOAD) === "42",
    changed_medium_refused: ["boot.sums.sig", "boot.sums"].every((file) =>
      refusesChanged(host, bundle, file),
    ),
    life: WHOLE_LIFE.includes(distribution.name)
      ? await liveWithoutRoute(built, host.root, distribution.name.includes("Docker"))
      : null,
  };
  progress(`${JSON.stringify(figures)}${install.status === 0 ? "" : ` ${install.stderr}`}`);
  return figures;
}

async function liveWithoutRoute(
  built: BundleSummary,
  root: string,
  withDocker: boolean,
): Promise<ProofResult> {
  return await inOwnNetwork(
    async (enter) =>
      await runInside("hosts", built, (command) =>
        enter([...command, root, withDocker ? "docker" : "podman"]),
      ),
  );
}

/** Another file is laid over the medium's: the medium itself stays as it is. */
function refusesChanged(host: MinimalHost, bundle: string, file: string): boolean {
  const script = `
cp "/medium/${file}" /changed
printf x | dd of=/changed bs=1 seek=3 conv=notrunc 2>/dev/null
mount --bind /changed "/medium/${file}"
exec sh /medium/install.sh --help`;
  const { status, stderr } = host.run(bundle, ["sh", "-euc", script]);
  return status === 3 && stderr.includes("boot.sums: its signature");
}

/** The release as it is installed, of hard links. */
function stage(bundle: string): string {
  const folder = mkdtempSync(join(repository, ".cache", "hosts-"));
  for (const file of treeOf(bundle)) {
    mkdirSync(dirname(join(folder, file.path)), { recursive: true });
    const blob = join(bundle, "blobs", "sha256", file.sha256);
    if (existsSync(blob)) linkSync(blob, join(folder, file.path));
  }
  return folder;
}

function sumOf(bundle: string, path: string): string {
  const found = treeOf(bundle).find((file) => file.path === path);
  if (found === undefined) throw new Error(`the release has no ${path}`);
  return found.sha256;
}

function treeOf(bundle: string): ReleaseFile[] {
  const { payload } = JSON.parse(
    readFileSync(join(bundle, "release.json"), "utf8"),
  ) as DsseEnvelope;
  return (
    JSON.parse(Buffer.from(payload, "base64").toString()) as { predicate: { tree: ReleaseFile[] } }
  ).predicate.tree;
}
