import { execFileSync } from "node:child_process";
import { join } from "node:path";

/** Cold, on a busy machine, and behind another test that builds it. */
const BUILT_WITHIN_MS = 300_000;

/** Folder of `resontech` as one executable and its SHA-256. @param cache where steps are kept; null: where all are */
export function cliExecutable(cache: string | null = null): string {
  const program = join(import.meta.dirname, "build-cli-executable.ts");
  return execFileSync(process.execPath, [program, ...(cache === null ? [] : [cache])], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
    timeout: BUILT_WITHIN_MS,
  }).trim();
}
