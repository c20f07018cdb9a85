import { join } from "node:path";
import { SIGNATURE_VERIFIER } from "@resontech/contracts/release-manifest";
import { BuildClock } from "../cache/build-clock.ts";
import { progress } from "../cache/progress.ts";
import { StepCache } from "../cache/step-cache.ts";
import { ensureEngine, NATIVE_ENGINES, type NativeEngine } from "../engines/ensure-engine.ts";
import { buildHaproxy } from "../engines/haproxy.ts";
import { buildHostTools } from "../engines/host-tools.ts";
import { buildAddons } from "../engines/node-addons.ts";
import { buildRuntime } from "../engines/runtime.ts";
import { buildFlCpu } from "../images/fl-cpu.ts";
import { buildFlCuda, CUDA_12, CUDA_13 } from "../images/fl-cuda.ts";
import { buildKeycloak } from "../images/keycloak.ts";
import { buildPostgres } from "../images/postgres.ts";
import { buildServeCpu } from "../images/serve-cpu.ts";
import { buildServeVllm } from "../images/serve-vllm.ts";
import { buildWheelFolder } from "../images/wheel-folder.ts";
import { LockStaleError, type LockFile, readLock } from "../lock/lock-file.ts";
import { refreshOverlay } from "../resolve/refresh.ts";
import { SigningKey } from "../trust/signing-key.ts";
import { BundleRefusedError, type VerifiedBundle, verifyBundle } from "../trust/verify-bundle.ts";
import { buildApps } from "./app-bundles.ts";
import { buildCliExecutable } from "./cli-executable.ts";
import { describeRelease, type Ingredients, sizeByPart } from "./describe-release.ts";
import { treeOf, type TreeSource } from "../engines/tree-source.ts";
import { joinScript } from "./join-script.ts";
import { signedFiles } from "./signed-files.ts";
import { thirdPartyNotices } from "./third-party-notices.ts";
import { hasSignedFiles, writeBundle } from "./write-bundle.ts";

/** What a bundle's job images are for: `cuda` is `cpu`, both images for NVIDIA's accelerators, and that of vLLM. */
export const PROFILES = ["cpu", "cuda"] as const;
export type Profile = (typeof PROFILES)[number];

export type BuildOptions = {
  out: string;
  profile: Profile;
  /** Folders of wheels that become an image each: see {@link buildWheelFolder}. */
  wheelFolders: readonly string[];
  cacheDirectory: string;
  /** PEM file of the signing key; null: the development key of this cache. */
  signingKey: string | null;
  /** Replace Debian pins that are no longer served by an untracked overlay, and say so; never for a release. */
  refreshOverlay: boolean;
};

export type BuildResult = {
  bundle: string;
  version: string;
  /** SHA-256 of `release.json`, hex. */
  releaseDigest: string;
  bytes: number;
  /** Bytes by part: engines, runtime, our processes, each image. */
  parts: Record<string, number>;
  seconds: number;
  /** Of these, waiting for downloads with nothing else to do. */
  downloadSeconds: number;
};

/** Builds everything from the lock, writes one bundle folder and verifies it as an installer will. */
export async function buildBundle(options: BuildOptions): Promise<BuildResult> {
  const startedAt = performance.now();
  const clock = new BuildClock();
  const ingredients = await makeIngredients(
    () => new StepCache(options.cacheDirectory, clock),
    options,
    options.refreshOverlay,
  );
  const { release, blobs } = describeRelease(ingredients);
  const key = openKey(options);
  const files = signedFiles(release, ingredients.lock.releaseNumber, key);
  const verified =
    (await verifyUnchanged(options.out, files, key)) ??
    (await writeAndVerify(options.out, files, blobs, key));
  return {
    bundle: options.out,
    version: release.version,
    releaseDigest: verified.releaseSha256,
    bytes: verified.bytes,
    parts: sizeByPart(release),
    seconds: inSeconds(performance.now() - startedAt),
    downloadSeconds: inSeconds(clock.downloadMs),
  };
}

type Wanted = Pick<BuildOptions, "profile" | "wheelFolders">;

async function makeIngredients(
  openCache: () => StepCache,
  wanted: Wanted,
  overlay: boolean,
): Promise<Ingredients> {
  const lock = readLock(overlay);
  try {
    return await makeParts(openCache(), lock, wanted);
  } catch (error) {
    if (!(error instanceof LockStaleError) || !overlay) throw error;
    for (const { name, pinned, served } of error.changes)
      progress(`no longer served: ${name} ${pinned} → ${served ?? "gone"}`);
    progress(
      "this development build goes on with today's versions from an untracked overlay; the lock stays as it is",
    );
    await refreshOverlay();
    return await makeParts(openCache(), readLock(true), wanted);
  }
}

async function makeParts(
  cache: StepCache,
  lock: LockFile,
  { profile, wheelFolders }: Wanted,
): Promise<Ingredients> {
  // Our own processes first: they take a second, and a mistake in them should not cost minutes.
  const apps = await buildApps(cache);
  const engines = (Object.keys(NATIVE_ENGINES) as NativeEngine[]).map(
    async (engine): Promise<TreeSource> => ({
      path: `engines/${NATIVE_ENGINES[engine]}`,
      file: await ensureEngine(engine, cache),
      executable: true,
    }),
  );
  const images = [
    buildFlCpu(cache, lock),
    ...(profile === "cuda" ? [CUDA_13, CUDA_12] : []).map((cuda) => buildFlCuda(cache, lock, cuda)),
    ...wheelFolders.map((folder) => buildWheelFolder(cache, lock, folder)),
    // Last of those for jobs: where several would do, the first is taken.
    buildServeCpu(cache, lock),
    ...(profile === "cuda" ? [buildServeVllm(cache, lock)] : []),
    buildKeycloak(cache, lock),
    buildPostgres(cache, lock),
  ];
  const natives = [
    buildCliExecutable(cache, lock, apps),
    buildRuntime(cache, lock),
    buildAddons(cache, lock),
    buildHostTools(cache, lock),
    buildHaproxy(cache, lock),
    thirdPartyNotices(cache, lock, apps),
  ];
  const [imageLayouts, engineFiles, nativeFiles] = await Promise.all([
    Promise.all(images),
    Promise.all(engines),
    Promise.all(natives).then((files) => files.flat()),
  ]);
  // The source tree's addons serve this machine alone, and its notices name no engine.
  const replaced = new Set(nativeFiles.map(({ path }) => path));
  const own = treeOf(apps).filter(({ path }) => !replaced.has(path));
  const verifier = engineFiles.find(({ path }) => path === SIGNATURE_VERIFIER);
  if (verifier === undefined) throw new Error(`no engine is ${SIGNATURE_VERIFIER}`);
  const join = await joinScript(cache, verifier.file);
  return { lock, tree: [...nativeFiles, ...own, ...engineFiles, join], imageLayouts };
}

function openKey({ signingKey, cacheDirectory }: BuildOptions): SigningKey {
  if (signingKey !== null) return SigningKey.read(signingKey);
  const file = join(cacheDirectory, "dev-signing-key.pem");
  progress(`signed with the development key of this machine (${file}): not for a customer`);
  return SigningKey.development(file);
}

/** The same release in the same folder needs no second writing, only the same verification; null: write it. */
async function verifyUnchanged(
  out: string,
  files: Readonly<Record<string, Buffer>>,
  key: SigningKey,
): Promise<VerifiedBundle | null> {
  if (!hasSignedFiles(out, files)) return null;
  try {
    const verified = await verifyBundle(out, { publicKeyPem: key.publicPem });
    progress(`${out} is this very release already: verified`);
    return verified;
  } catch (error) {
    if (!(error instanceof BundleRefusedError)) throw error;
    progress(`${out} is damaged (${error.message}): written anew`);
    return null;
  }
}

async function writeAndVerify(
  out: string,
  files: Readonly<Record<string, Buffer>>,
  blobs: ReadonlyMap<string, TreeSource>,
  key: SigningKey,
): Promise<VerifiedBundle> {
  progress(`writing ${blobs.size} blobs to ${out}`);
  writeBundle(out, files, blobs);
  progress("verifying the bundle as an installer will");
  return await verifyBundle(out, { publicKeyPem: key.publicPem });
}

function inSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
