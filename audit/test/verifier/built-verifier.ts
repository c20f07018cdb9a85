/** The verifier in one file, as it ships. */
import { join } from "node:path";
import { buildSync } from "esbuild";
import type { Test } from "tap";
import { temporaryFolder } from "../helper.ts";

export function builtVerifier(t: Test): string {
  const outfile = join(temporaryFolder(t), "verify.mjs");
  buildSync({
    entryPoints: [join(import.meta.dirname, "../../src/verifier/main.ts")],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target: "node20",
  });
  return outfile;
}
