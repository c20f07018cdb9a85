/** Values that follow from the sources alone: a compiled program holds them, and no start of it computes them. */
import { execFileSync } from "node:child_process";
import { basename, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Plugin } from "esbuild";

/** Modules that export nothing else. */
const MODULES =
  /\/(?:audit\/src\/format\/event\/schema-digest|parts\/coordinator\/src\/authorization\/judged-at-build)\.ts$/;
/** Module that nothing is known of before a build → the one that is evaluated for it. */
const EVALUATED: Readonly<Record<string, string>> = {
  "judged-at-build.ts": "../../build/judged-policies.ts",
};

/** For the programs of one release: each module is evaluated once. */
export function fixedValues(): Plugin {
  const evaluated = new Map<string, string>();
  return {
    name: "fixed values",
    setup: (build) => {
      build.onLoad({ filter: MODULES }, ({ path }) => {
        const contents = evaluated.get(path) ?? evaluate(evaluatedFor(path));
        evaluated.set(path, contents);
        return { contents, loader: "js" };
      });
    },
  };
}

function evaluatedFor(path: string): string {
  const other = EVALUATED[basename(path)];
  return other === undefined ? path : join(dirname(path), other);
}

/** In a process of its own: this one may have loaded sources that have changed since. */
function evaluate(path: string): string {
  const program = `process.stdout.write(JSON.stringify(await import(${JSON.stringify(pathToFileURL(path).href)})))`;
  const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "--eval", program];
  const values = JSON.parse(execFileSync(process.execPath, args, { encoding: "utf8" })) as object;
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`)
    .join("\n");
}
