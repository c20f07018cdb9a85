import { HOST_TOOLS, type ReleaseManifest } from "@resontech/contracts/release-manifest";
import type { BundledTools } from "./tools.ts";

/** Programs by another name than their package's. */
const PACKAGE_OF: Readonly<Record<string, string>> = {
  ip6tables: "iptables",
  nft: "nftables",
  "mkfs.ext4": "e2fsprogs",
  ip: "iproute2",
  umount: "mount",
  losetup: "mount",
  fallocate: "util-linux",
};

/** The programs for hosts that lack them, each with the version of its package; none in an older release. */
export function bundledTools({
  tree,
  engines,
}: Pick<ReleaseManifest, "tree" | "engines">): BundledTools {
  const folder = `${HOST_TOOLS}/bin/`;
  const names = tree.flatMap(({ path }) =>
    path.startsWith(folder) ? [path.slice(folder.length)] : [],
  );
  return Object.fromEntries(
    names.map((name) => [
      name,
      engines[`${HOST_TOOLS}/${PACKAGE_OF[name] ?? name}`]?.version ?? "of this release",
    ]),
  );
}
