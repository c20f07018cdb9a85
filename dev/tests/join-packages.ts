/**
 * Packages of many small modules, each as a few files for test processes: nearly every test file loads the 683 modules of typebox, which costs 0.2 s of
 * CPU, and a tenth of that once they are joined. What a module does and which object it exports stays the same.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build, version } from "esbuild";

/** Each imports nothing but itself and Node. */
const PACKAGES = ["typebox"];
/** What to import → the file in the folder, for `joined-packages.mjs`. */
const LIST = "list.json";

/** @param into where folders of joined packages lie. @returns the folder of those that are installed now, made or found */
export async function joinPackages(repository: string, into: string): Promise<string> {
  const installed = PACKAGES.map((name) => readPackage(repository, name));
  const label = installed.map((each) => `${each.name}-${each.version}`).join("_");
  const folder = join(into, `${label}_esbuild-${version}`);
  if (existsSync(join(folder, LIST))) return folder;
  mkdirSync(into, { recursive: true });
  for (const other of readdirSync(into)) rmSync(join(into, other), { recursive: true });
  const making = mkdtempSync(join(into, "making-"));
  const imports = installed.flatMap(({ name, exports }) =>
    Object.keys(exports).map((key) => name + key.slice(1)),
  );
  const files = imports.map((specifier) => [specifier, specifier.replaceAll("/", "-")] as const);
  await build({
    entryPoints: Object.fromEntries(
      files.map(([specifier, file]) => [file, fileURLToPath(import.meta.resolve(specifier))]),
    ),
    ...{ bundle: true, splitting: true, format: "esm", platform: "node", target: "node26" },
    ...{ keepNames: true, outdir: making, outExtension: { ".js": ".mjs" }, logLevel: "error" },
  });
  const list = Object.fromEntries(files.map(([specifier, file]) => [specifier, `${file}.mjs`]));
  writeFileSync(join(making, LIST), JSON.stringify(list));
  renameSync(making, folder);
  return folder;
}

type Installed = { name: string; version: string; exports: Record<string, unknown> };

function readPackage(repository: string, name: string): Installed {
  const file = join(repository, "node_modules", name, "package.json");
  return JSON.parse(readFileSync(file, "utf8")) as Installed;
}
