/** Our own processes as they ship: one compiled file each, plus the three packages that carry a binary. */
import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { verifierPage } from "@resontech/verifier/verifier-page";
import { buildDashboard } from "@resontech/dashboard/build-dashboard";
import { build, type BuildOptions } from "esbuild";
import type { StepCache } from "../cache/step-cache.ts";
import { optionsOf } from "./compile-options.ts";
import { fixedValues } from "./fixed-values.ts";
import { describePackages, packageFolders } from "./package-notices.ts";
import { COPIED, DASHBOARD, ENTRIES, VERIFIER_PAGE } from "./shipped-sources.ts";
import { SourceMissingError } from "../engines/source-missing-error.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** Packages of others that are part of our programs, and their licences; a release adds its engines. */
export const PACKAGE_NOTICES = "app/THIRD-PARTY-NOTICES.txt";

/** Parts of others' packages that lie in this tree, each with the package's name and licence. */
const TAKEN_IN = ["dashboard/src/ui/icon/lucide"];

/** Sources that decide the compiled files, besides {@link COPIED}. */
const SOURCES = [
  "contracts/src",
  "frame/src",
  "audit/src",
  "verifier/build",
  "verifier/src",
  "parts",
  "backup/src",
  "airgap/src",
  "appliance/src",
  "installer/src",
  "cli/src",
  "cli/package.json",
  "dashboard/build",
  "dashboard/index.html",
  "dashboard/src",
  "package-lock.json",
];

/** Copies what ships as it is, as far as its place in the release begins with `below`. */
export function copyShipped(below: string, into: string): void {
  for (const [path, source] of Object.entries(COPIED))
    if (path.startsWith(below))
      cpSync(join(repository, source), join(into, path), { recursive: true, filter: ships });
}

/** A command on the release's own Node. */
const commandOf = (name: string): string => `#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/node" "$here/../app/${name}.mjs" "$@"
`;

/**
 * Compiles every process; answers a folder with `app/…` and the commands in `bin/`.
 * @throws SourceMissingError
 */
export async function buildApps(cache: StepCache): Promise<string> {
  const wanted = [
    ...Object.entries(ENTRIES).map(([path, { source }]) => [path, source] as const),
    ...Object.entries(COPIED),
  ];
  for (const [path, source] of wanted)
    if (!existsSync(join(repository, source))) throw new SourceMissingError(path, source);
  const sources = digestOf([...SOURCES, ...Object.values(COPIED)]);
  return await cache.step("compile our processes", { sources, revision: 17 }, async (into) => {
    const compiled: string[] = [];
    const values = fixedValues();
    for (const [path, { source, target }] of Object.entries(ENTRIES))
      compiled.push(...(await compile(optionsOf(source, target, join(into, path), [values]))));
    // Of the same sources as `sov-verify.mjs`: no package of its own.
    writeFileSync(join(into, VERIFIER_PAGE), await verifierPage());
    compiled.push(...(await buildDashboard(join(into, DASHBOARD))));
    const packages = packageFolders(repository, [...compiled, ...Object.values(COPIED)]);
    const notices = describePackages(repository, [...packages, ...TAKEN_IN]);
    writeFileSync(join(into, PACKAGE_NOTICES), notices);
    copyShipped("app/", into);
    mkdirSync(join(into, "bin"));
    for (const name of ["appliance", "appliance-node", "resontech"])
      writeFileSync(join(into, "bin", name), commandOf(name), { mode: 0o755 });
  });
}

/** @returns the files whose text is in what came out */
async function compile(options: BuildOptions): Promise<string[]> {
  const { metafile } = await build({ ...options, metafile: true });
  return Object.values(metafile.outputs).flatMap(({ inputs }) =>
    Object.entries(inputs)
      .filter(([, { bytesInOutput }]) => bytesInOutput > 0)
      .map(([file]) => file),
  );
}

/** Leaves out what only a checkout has, and packages that npm puts below a part. */
function ships(path: string): boolean {
  const name = path.slice(repository.length);
  return (
    !/\/(__pycache__|tests?)(\/|$)/.test(name) && !/^\/parts\/(.*\/)?node_modules\//.test(name)
  );
}

function digestOf(paths: readonly string[]): string {
  const hash = createHash("sha256");
  for (const path of paths) {
    const from = join(repository, path);
    const files = statSync(from).isDirectory()
      ? readdirSync(from, { recursive: true, encoding: "utf8" })
          .sort()
          .map((name) => join(from, name))
      : [from];
    for (const file of files.filter((name) => ships(name) && statSync(name).isFile()))
      hash
        .update(`${file.slice(repository.length)}\0`)
        .update(readFileSync(file))
        .update("\0");
  }
  return hash.digest("hex");
}
