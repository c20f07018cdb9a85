import { execFileSync } from "node:child_process";

/** Short commit of a tree, with `+` where tracked files differ from it; records of proofs themselves don't count. */
export function commitOf(repository: string): string {
  const git = (...args: string[]): string =>
    execFileSync("git", args, { cwd: repository, encoding: "utf8" }).trim();
  const isChanged =
    git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!docs").length > 0;
  return git("rev-parse", "--short=7", "HEAD") + (isChanged ? "+" : "");
}
