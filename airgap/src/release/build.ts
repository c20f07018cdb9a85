import { join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { progress, StepCache } from "../cache/step-cache.ts";
import { ensureEngine, NATIVE_ENGINES, type NativeEngine } from "../engines/ensure-engine.ts";
import { pinnedNode } from "../engines/pinned-node.ts";
import { buildFlCpu } from "../images/fl-cpu.ts";
import { buildKeycloak } from "../images/keycloak.ts";
import { buildPostgres } from "../images/postgres.ts";
import { LockStaleError, type LockFile, readLock } from "../lock/lock-file.ts";
import { refreshOverlay } from "../lock/refresh.ts";
import { SigningKey } from "../trust/signing-key.ts";
import { verifyBundle } from "../trust/verify-bundle.ts";
import { buildApps } from "./app-bundles.ts";
import { assembleBundle, DigestCache, treeOf, type TreeSource } from "./assemble.ts";

export type BuildOptions = {
  out: string;
  cacheDirectory: string;
  /** PEM file of the signing key; null: the development key of this cache. */
  signingKey: string | null;
  /** Replace Debian pins that are no longer served by an untracked overlay, and say so; never for a release. */
  refreshOverlay: boolean;
};

export type BuildResult = {
  bundle: string;
  version: string;
  releaseDigest: string;
  bytes: number;
  /** Bytes by part: engines, runtime, apps, each image. */
  parts: Record<string, number>;
  seconds: number;
  downloadSeconds: number;
};

/** What an install goes through, in order; the installer shows the same words. */
const PHASES = ["verify", "preflight", "import", "stage", "switch", "start", "health", "first-boot"];

/** Builds everything from the lock, writes and verifies one bundle folder. */
export async function buildBundle(options: BuildOptions): Promise<BuildResult> {
  const startedAt = Date.now();
  const cache = new StepCache(options.cacheDirectory);
  let lock = readLock(options.refreshOverlay);
  let made: { tree: TreeSource[]; imageLayouts: string[] };
  try {
    made = await makeParts(cache, lock);
  } catch (error) {
    if (!(error instanceof LockStaleError) || !options.refreshOverlay) throw error;
    progress(error.message.split("\n").slice(0, -1).join("\n"));
    progress("this development build goes on with today's versions from an untracked overlay; the lock stays as it is");
    await refreshOverlay();
    lock = readLock(true);
    made = await makeParts(cache, lock);
  }
  const keyFile = join(options.cacheDirectory, "dev-signing-key.pem");
  if (options.signingKey === null) progress(`signed with the development key of this machine (${keyFile}): not for a customer`);
  const key = options.signingKey === null ? SigningKey.development(keyFile) : SigningKey.read(options.signingKey);
  const digests = new DigestCache(join(options.cacheDirectory, "digests.json"));
  const { release, releaseSha256 } = assembleBundle(options.out, { lock, ...made, phases: PHASES }, key, digests);
  digests.save();
  progress("verifying the bundle as an installer will");
  const verified = await verifyBundle(options.out, { publicKeyPem: key.publicPem });
  return {
    bundle: options.out,
    version: release.version,
    releaseDigest: releaseSha256,
    bytes: verified.bytes,
    parts: sizeByPart(release),
    seconds: Math.round((Date.now() - startedAt) / 100) / 10,
    downloadSeconds: Math.round(cache.downloadMs / 100) / 10,
  };
}

async function makeParts(cache: StepCache, lock: LockFile): Promise<{ tree: TreeSource[]; imageLayouts: string[] }> {
  // Two lanes for two cores: compilers in one, images in the other.
  const engines = async (): Promise<TreeSource[]> => {
    const tree: TreeSource[] = [];
    for (const engine of Object.keys(NATIVE_ENGINES) as NativeEngine[]) {
      tree.push({ path: `engines/${NATIVE_ENGINES[engine]}`, file: await ensureEngine(engine, cache), executable: true });
    }
    return tree;
  };
  const images = async (): Promise<string[]> => [
    await buildFlCpu(cache, lock),
    await buildPostgres(cache, lock),
    await buildKeycloak(cache, lock),
  ];
  const apps = await buildApps(cache);
  const [engineTree, imageLayouts] = await Promise.all([engines(), images()]);
  return { tree: [{ path: "bin/node", file: pinnedNode(lock), executable: true }, ...treeOf(apps), ...engineTree], imageLayouts };
}

function sizeByPart(release: ReleaseManifest): Record<string, number> {
  const parts: Record<string, number> = {};
  const add = (part: string, bytes: number): void => {
    parts[part] = (parts[part] ?? 0) + bytes;
  };
  for (const file of release.tree)
    add(
      file.path === "bin/node" ? "runtime (node)" : file.path.startsWith("engines/") ? file.path : "our processes",
      file.sizeBytes,
    );
  for (const image of release.images)
    add(
      `image ${image.repository.replace("resontech/", "")}`,
      image.blobs.reduce((sum, blob) => sum + blob.sizeBytes, 0),
    );
  return parts;
}
