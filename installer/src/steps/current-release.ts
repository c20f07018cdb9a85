/** Which of the staged releases is the current one. */
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ROOT, writeOwned } from "@resontech/appliance/owned-file";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { releaseName } from "@resontech/contracts/release-name";
import { syncNow } from "@resontech/frame/durable-file-now";

/** Answers where the tree of a release lies, or will. */
export function releaseFolder(root: string, version: string, releaseSha256: string): string {
  return join(root, "releases", releaseName(version, releaseSha256));
}

/** Finds where a release is staged; null where it is not, or not any more. */
export function stagedFolder(root: string, releaseSha256: string): string | null {
  const releases = join(root, "releases");
  if (!existsSync(releases)) return null;
  const end = releaseName("", releaseSha256);
  const name = readdirSync(releases).find((one) => one.endsWith(end));
  return name === undefined ? null : join(releases, name);
}

/** What a staged release is. */
export function readStagedRelease(folder: string): ReleaseManifest {
  return JSON.parse(readFileSync(join(folder, "release-manifest.json"), "utf8")) as ReleaseManifest;
}

/** Reads where the current release lies; null before the first switch. */
export function currentRelease(root: string): string | null {
  try {
    return readlinkSync(join(root, "current"));
  } catch {
    return null;
  }
}

/** This release runs, or would, with this configuration. */
export function isCurrent(root: string, releaseDir: string, config: ApplianceConfig): boolean {
  return (
    currentRelease(root) === releaseDir &&
    isDeepStrictEqual(readConfig(root), { ...keptChoices(root), ...config })
  );
}

/** Nothing may run meanwhile. */
export function makeCurrent(root: string, releaseDir: string, config: ApplianceConfig): void {
  mkdirSync(join(root, "etc"), { recursive: true, mode: 0o755 });
  const whole = { ...keptChoices(root), ...config };
  writeOwned(configFile(root), `${JSON.stringify(whole, null, 2)}\n`, ROOT, 0o644);
  switchTo(root, releaseDir);
}

/** Makes a release the current one by one rename: there always is one, once there was one. */
export function switchTo(root: string, releaseDir: string): void {
  if (currentRelease(root) !== releaseDir) {
    const beside = join(root, "current.part");
    rmSync(beside, { force: true });
    symlinkSync(releaseDir, beside);
    renameSync(beside, join(root, "current"));
  }
  syncNow(root);
}

const configFile = (root: string): string => join(root, "etc", "appliance.json");

function readConfig(root: string): Partial<ApplianceConfig> {
  const file = configFile(root);
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as ApplianceConfig) : {};
}

/** What no option of an install says, and the operator wrote into the file. */
function keptChoices(root: string): Partial<ApplianceConfig> {
  const { unwitnessed, retention, hangAfterMinutes, formerName } = readConfig(root);
  return {
    ...(unwitnessed === undefined ? {} : { unwitnessed }),
    ...(retention === undefined ? {} : { retention }),
    ...(hangAfterMinutes === undefined ? {} : { hangAfterMinutes }),
    // A rename says it; an upgrade keeps it.
    ...(formerName === undefined ? {} : { formerName }),
  };
}
