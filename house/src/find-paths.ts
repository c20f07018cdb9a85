import { spawnSync } from "node:child_process";

const MISSING = /^find: '(?<path>.*)': No such file or directory$/;

/**
 * Paths that find(1) answers to `args`. What vanishes while it looks is not there: on a host where other programs run, folders of `/tmp` come and go.
 *
 * @throws Error with find's own words when a folder that `args` name is missing or find could not look at something
 */
export function findPaths(args: readonly string[]): string[] {
  const { stdout, stderr, error } = spawnSync("find", args, {
    encoding: "utf8",
    env: { ...process.env, LC_ALL: "C" },
    maxBuffer: 64 * 1024 * 1024,
  });
  if (error !== undefined) throw error;
  const hasVanished = (line: string): boolean => {
    const path = MISSING.exec(line)?.groups?.["path"];
    return path !== undefined && !args.includes(path);
  };
  const complaints = stderr.split("\n").filter((line) => line !== "" && !hasVanished(line));
  if (complaints.length > 0) throw new Error(complaints.join("\n"));
  return stdout.split("\n").filter((line) => line !== "");
}
