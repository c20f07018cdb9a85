/**
 * Keycloak's database as an earlier release had it: kept where a newer release brings another Keycloak, whose database the older program could not open.
 * `<root>/data/postgres-kept` is root's own, and PostgreSQL sees it:
 *
 *     release         name of the folder of the release that used it; written last
 *     cluster/        PostgreSQL's files, copied while nothing ran
 *     removals.sql    what people lost since; `removed`: it was taken from the copy (takeAwayRemovals)
 *     left/           the database of the newer release, until the older one runs again
 */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { KEPT_FOLDER } from "@resontech/postgres/part";
import { syncNow } from "@resontech/frame/durable-file-now";

export function keptDatabase(root: string, ...path: string[]): string {
  return join(root, "data", KEPT_FOLDER, ...path);
}

/** The release whose database is kept; null where none is, or its copy was cut. */
export function readKeptRelease(root: string): string | null {
  try {
    return readFileSync(keptDatabase(root, "release"), "utf8");
  } catch {
    return null;
  }
}

/** What people lost since was taken from it. */
export function isRemoved(root: string): boolean {
  return existsSync(keptDatabase(root, "removed"));
}

/** Whether the newer Keycloak makes of the database what the older one can't open. */
export function needsKeeping(
  from: Pick<ReleaseManifest, "engines">,
  to: Pick<ReleaseManifest, "engines">,
): boolean {
  return from.engines["keycloak"]?.version !== to.engines["keycloak"]?.version;
}

/** Bytes that a copy takes. */
export function databaseBytes(root: string): number {
  if (!existsSync(cluster(root))) return 0;
  const said = execFileSync("du", ["-s", "-B1", cluster(root)], { encoding: "utf8" });
  return Number.parseInt(said, 10);
}

/** Nothing may run meanwhile. May be repeated from any point. @param release name of the folder of the release that has used it */
export function keepDatabase(root: string, release: string): void {
  forgetDatabase(root);
  if (!existsSync(cluster(root))) return;
  mkdirSync(keptDatabase(root), { recursive: true, mode: 0o755 });
  copyCluster(cluster(root), keptDatabase(root, "cluster"));
  writeFileSync(keptDatabase(root, "release.part"), release, { mode: 0o444 });
  execFileSync("sync", ["-f", keptDatabase(root)]);
  renameSync(keptDatabase(root, "release.part"), keptDatabase(root, "release"));
  syncNow(keptDatabase(root));
}

/** The kept one takes the place of the one that is used; both stay until {@link forgetDatabase}. Nothing may run meanwhile. May be repeated from any point. */
export function putBackDatabase(root: string): void {
  const [used, left, part] = [
    cluster(root),
    keptDatabase(root, "left"),
    keptDatabase(root, "part"),
  ];
  rmSync(part, { recursive: true, force: true });
  copyCluster(keptDatabase(root, "cluster"), part);
  execFileSync("sync", ["-f", part]);
  if (existsSync(used)) {
    rmSync(left, { recursive: true, force: true });
    renameSync(used, left);
  }
  renameSync(part, used);
  for (const folder of [dirname(used), keptDatabase(root)]) syncNow(folder);
}

/** Whoever comes next keeps its own. */
export function forgetDatabase(root: string): void {
  // The marker first: half a copy must never count as one.
  rmSync(keptDatabase(root, "release"), { force: true });
  for (const name of ["removed", "removals.sql", "cluster", "left", "part"])
    rmSync(keptDatabase(root, name), { recursive: true, force: true });
}

const cluster = (root: string): string => join(root, "data", "postgres", "cluster");

function copyCluster(from: string, to: string): void {
  execFileSync("cp", ["--archive", "--reflink=auto", "--no-target-directory", from, to]);
}
