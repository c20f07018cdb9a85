/** How esbuild makes one of our programs. */
import { join } from "node:path";
import type { BuildOptions, Plugin } from "esbuild";
import { requiredHttp } from "./required-http.ts";
import { entryOf } from "./shipped-sources.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** CommonJS packages inside an ES module still call `require`, and some ask where they are. */
const REQUIRE =
  'import { createRequire as __rtRequire } from "node:module"; const require = __rtRequire(import.meta.url);';
const BANNER = `${REQUIRE} const __filename = import.meta.filename; const __dirname = import.meta.dirname;`;

/**
 * Of one program of a release into `outfile`, again and again while sources change: what follows from them alone is computed at its start.
 * @throws Error for a name that no program has
 */
export function compileOptions(name: string, outfile: string): BuildOptions {
  const { source, target } = entryOf(name);
  return optionsOf(source, target, outfile);
}

export function optionsOf(
  source: string,
  target: string,
  outfile: string,
  plugins: readonly Plugin[] = [],
): BuildOptions {
  const isStandalone = target === "node20";
  const hasRequire = !isStandalone || source.startsWith("cli/");
  return {
    absWorkingDir: repository,
    entryPoints: [source],
    outfile,
    bundle: true,
    platform: "node",
    format: "esm",
    target,
    external: isStandalone ? [] : ["better-sqlite3", "pkcs11js", "@cedar-policy/cedar-wasm"],
    // The verifier and the witness have no such package, and stay free of what they don't need.
    banner: hasRequire ? { js: isStandalone ? REQUIRE : BANNER } : {},
    plugins: hasRequire ? [...plugins, requiredHttp] : [...plugins],
    keepNames: true,
    // dockerode can speak over SSH and would bring native speed-ups for it along; we speak over a Unix socket alone.
    loader: { ".node": "empty" },
    legalComments: "none",
    logLevel: "error",
  };
}
