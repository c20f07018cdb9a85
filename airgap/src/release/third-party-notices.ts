/** `app/THIRD-PARTY-NOTICES.txt` of a release: programs, Python packages and npm packages of others, each with its licence. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { PACKAGE_NOTICES } from "./app-bundles.ts";
import { enginesOf } from "./describe-release.ts";
import type { TreeSource } from "../engines/tree-source.ts";

/** @param apps what `buildApps` answered */
export async function thirdPartyNotices(
  cache: StepCache,
  lock: LockFile,
  apps: string,
): Promise<TreeSource[]> {
  const text = noticesOf(lock, readFileSync(join(apps, PACKAGE_NOTICES), "utf8"));
  const folder = await cache.step("notices of third parties", { text }, async (into) =>
    writeFileSync(join(into, "notices.txt"), text),
  );
  return [{ path: PACKAGE_NOTICES, file: join(folder, "notices.txt"), executable: false }];
}

/** @param packages as `describePackages` writes them */
export function noticesOf(lock: LockFile, packages: string): string {
  const engines = Object.entries(enginesOf(lock)).map(
    ([name, { version, licence, source }]) => `${name} ${version}\n  ${licence} (${source})`,
  );
  const wheels = Object.values(lock.pypi)
    .flat()
    .map(({ name, version, licence }) => `${name} ${version}\n  ${licence}`);
  return [
    `Programs of others in release ${lock.version}`,
    "",
    "1. Engines and tools. The texts of their licences lie beside them where their makers ask for that: tools/licences, engines/haproxy/licences.",
    ...sortedOnce(engines),
    "",
    "2. Python packages. Each has the text of its licence in the image that holds it; not every profile of a bundle holds all.",
    ...sortedOnce(wheels),
    "",
    "3. Packages of Debian in images and tools. Their texts lie in usr/share/doc of each image, and in tools/licences.",
    "",
    "4. npm packages inside our own programs, with the texts of their licences.",
    "",
    packages,
  ].join("\n");
}

function sortedOnce(lines: readonly string[]): string[] {
  return [...new Set(lines)].sort();
}
