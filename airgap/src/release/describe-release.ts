import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import {
  HOST_TOOLS,
  type ReleaseFile,
  type ReleaseImage,
  type ReleaseManifest,
  RUNTIME,
  RUNTIME_LIBRARIES,
} from "@resontech/contracts/release-manifest";
import { demandsOfRelease, sumOf } from "@resontech/contracts/room-account";
import { firstDataBytes } from "@resontech/parts";
import { NATIVE_ENGINES, type NativeEngine } from "../engines/ensure-engine.ts";
import { patchesOf } from "../engines/patches.ts";
import type { TreeSource } from "../engines/tree-source.ts";
import { readImage } from "../images/oci-image.ts";
import type { LockFile } from "../lock/lock-file.ts";

/** What a release is made of. */
export type Ingredients = {
  lock: LockFile;
  tree: readonly TreeSource[];
  imageLayouts: readonly string[];
};

/** What an install goes through, in order; the installer shows the same words. */
const PHASES = [
  "verify",
  "preflight",
  "import",
  "stage",
  "switch",
  "start",
  "health",
  "first-boot",
];

/** The release, and for each of its blobs the file that holds it now, by SHA-256. */
export function describeRelease({ lock, tree: sources, imageLayouts }: Ingredients): {
  release: ReleaseManifest;
  blobs: ReadonlyMap<string, TreeSource>;
} {
  const blobs = new Map<string, TreeSource>();
  const sizes = new Map<string, number>();
  const tree: ReleaseFile[] = [...sources]
    .sort((a, b) => (a.path < b.path ? -1 : 1))
    .map((source) => {
      const bytes = readFileSync(source.file);
      const sha256 = createHash("sha256").update(bytes).digest("hex");
      blobs.set(sha256, source);
      sizes.set(sha256, bytes.length);
      return { path: source.path, sha256, sizeBytes: bytes.length, executable: source.executable };
    });
  const images: ReleaseImage[] = imageLayouts.map((layout) => {
    const image = readImage(layout);
    for (const { sha256, sizeBytes } of image.blobs) {
      blobs.set(sha256, {
        path: image.repository,
        file: join(layout, "blobs", "sha256", sha256),
        executable: false,
      });
      sizes.set(sha256, sizeBytes);
    }
    return image;
  });
  const listed = [...sizes]
    .map(([sha256, sizeBytes]) => ({ sha256, sizeBytes }))
    .sort((a, b) => (a.sha256 < b.sha256 ? -1 : 1));
  const release: ReleaseManifest = {
    formatVersion: 1,
    product: "resontech-appliance",
    version: lock.version,
    sourceDateEpoch: lock.sourceDateEpoch,
    upgradeFrom: lock.upgradeFrom,
    diskNeedBytes: sumOf(demandsOfRelease({ tree, images })) + firstDataBytes(),
    phases: PHASES,
    engines: enginesOf(lock),
    tree,
    images,
    blobs: listed,
  };
  return { release, blobs };
}

/** Packages of the host tools whose programs are in the release; each licence of a library stands beside it in `tools/licences`. */
const TOOL_PACKAGES = [
  { name: "podman", licence: "Apache-2.0" },
  { name: "conmon", licence: "Apache-2.0" },
  { name: "netavark", licence: "Apache-2.0" },
  { name: "aardvark-dns", licence: "Apache-2.0" },
  { name: "iptables", licence: "GPL-2.0-or-later" },
  { name: "nftables", licence: "GPL-2.0-only" },
  { name: "e2fsprogs", licence: "GPL-2.0-only" },
  { name: "iproute2", licence: "GPL-2.0-or-later" },
  { name: "util-linux", licence: "GPL-2.0-or-later" },
  { name: "mount", licence: "GPL-2.0-or-later" },
  { name: "libc6", licence: "LGPL-2.1-or-later" },
] as const;

/** Programs of others in a release, by where they are. */
export function enginesOf(lock: LockFile): ReleaseManifest["engines"] {
  const engines: ReleaseManifest["engines"] = {};
  for (const [name, pin] of Object.entries(lock.go)) {
    const program = NATIVE_ENGINES[name as NativeEngine] ?? name;
    const patches = patchesOf(program).map((file) => basename(file));
    // runc is a host tool: the engine of the host may be another.
    engines[name === "runc" ? `${HOST_TOOLS}/runc` : name] = {
      ...{ version: pin.version, licence: pin.licence, source: `go:${pin.module}` },
      ...(patches.length === 0 ? {} : { patches }),
    };
  }
  for (const [name, pin] of Object.entries(lock.npm))
    engines[name] = { version: pin.version, licence: pin.licence, source: `npm:${pin.package}` };
  const atomic = lock.deb["runtime"]?.find((pin) => pin.name === "libatomic1");
  if (atomic !== undefined)
    engines["libatomic"] = {
      version: atomic.version,
      licence: "GPL-3.0-or-later WITH GCC-exception-3.1",
      source: "deb:libatomic1",
    };
  for (const { name, licence } of TOOL_PACKAGES) {
    const pin = lock.deb["tools"]?.find((one) => one.name === name);
    if (pin !== undefined)
      engines[`tools/${name}`] = { version: pin.version, licence, source: `deb:${name}` };
  }
  for (const [name, pin] of Object.entries(lock.maven))
    engines[name] = {
      version: pin.version,
      licence: pin.licence,
      source: `maven:${pin.coordinates}`,
    };
  const postgres = lock.deb["postgres"]?.find((pin) => pin.name === "postgresql-15");
  if (postgres !== undefined)
    engines["postgres"] = {
      version: postgres.version,
      licence: "PostgreSQL",
      source: "deb:postgresql-15",
    };
  const haproxy = lock.pypi["haproxy"]?.[0];
  if (haproxy !== undefined)
    engines["haproxy"] = {
      version: haproxy.version,
      licence: "GPL-2.0-or-later",
      source: `pypi:${haproxy.name}`,
    };
  const java = lock.pypi["jre"]?.[0];
  if (java !== undefined)
    engines["java"] = {
      version: java.version,
      licence: "GPL-2.0-only WITH Classpath-exception-2.0",
      source: `pypi:${java.name}`,
    };
  return engines;
}

/** Bytes of a bundle by what they are for; a blob that two images share counts in each. */
export function sizeByPart(release: ReleaseManifest): Record<string, number> {
  const parts: Record<string, number> = {};
  const add = (part: string, bytes: number): void => {
    parts[part] = (parts[part] ?? 0) + bytes;
  };
  for (const { path, sizeBytes } of release.tree) add(partOf(path), sizeBytes);
  for (const image of release.images)
    for (const { sizeBytes } of image.blobs)
      add(`image ${image.repository.replace("resontech/", "")}`, sizeBytes);
  return parts;
}

function partOf(path: string): string {
  if (path === RUNTIME || path.startsWith(`${RUNTIME_LIBRARIES}/`)) return "runtime (node)";
  if (path.startsWith(`${HOST_TOOLS}/`)) return "host tools";
  // An engine is a file, or a folder with its libraries.
  return path.startsWith("engines/") ? path.split("/", 2).join("/") : "our processes";
}
