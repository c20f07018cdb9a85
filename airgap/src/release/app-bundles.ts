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
import { build, type BuildOptions, type Plugin } from "esbuild";
import type { StepCache } from "../cache/step-cache.ts";
import { fixedValues } from "./fixed-values.ts";
import { describePackages, packageFolders } from "./package-notices.ts";
import { requiredHttp } from "./required-http.ts";
import { SourceMissingError } from "../engines/source-missing-error.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** Process → its entry. The verifier alone must run under any Node from 20 on an auditor's machine. */
const ENTRIES: Readonly<Record<string, { source: string; target: string }>> = {
  "app/coordinator.mjs": { source: "parts/coordinator/src/server.ts", target: "node26" },
  "app/coordinator-log-search.mjs": {
    source: "parts/coordinator/src/outputs/log-search/search-thread.ts",
    target: "node26",
  },
  "app/policy-trial.mjs": {
    source: "parts/coordinator/src/policy-trial/main.ts",
    target: "node26",
  },
  "app/follower.mjs": { source: "appliance/src/backup/follower/main.ts", target: "node26" },
  "app/s3-front.mjs": { source: "parts/s3-front/src/main.ts", target: "node26" },
  "app/auditd.mjs": { source: "parts/auditd/src/main.ts", target: "node26" },
  "app/audit-out.mjs": { source: "parts/audit-out/src/main.ts", target: "node26" },
  "app/vault.mjs": { source: "parts/vault/src/main.ts", target: "node26" },
  "app/audit-token.mjs": { source: "audit/src/keys/token-program.ts", target: "node26" },
  "app/audit-scrub.mjs": { source: "audit/src/scrub/scrub-thread.ts", target: "node26" },
  "app/sov-verify.mjs": { source: "verifier/src/main.ts", target: "node20" },
  "app/witness.mjs": { source: "parts/witness/src/main.ts", target: "node20" },
  "app/serving.mjs": { source: "parts/inference-gateway/src/main.ts", target: "node26" },
  "app/notifier.mjs": { source: "parts/notifier/src/main.ts", target: "node26" },
  "app/agent.mjs": { source: "parts/agent/src/main.ts", target: "node26" },
  "app/agent-transfers.mjs": {
    source: "parts/agent/src/off-thread/transfer-thread.ts",
    target: "node26",
  },
  "app/appliance.mjs": { source: "appliance/src/main.ts", target: "node26" },
  "app/appliance-node.mjs": { source: "appliance/src/node/main.ts", target: "node26" },
  "app/resontech.mjs": { source: "cli/src/main.ts", target: "node20" },
  "app/installer.mjs": { source: "installer/src/main.ts", target: "node26" },
};

/** Source of one program's entry: `auditd` → `parts/auditd/src/main.ts`. @throws Error for a name that no program has */
export function programSource(name: string): string {
  return entryOf(name).source;
}

/**
 * How esbuild makes one program of a release into `outfile`, again and again while sources change: what follows from them alone is computed at its start.
 * @throws Error for a name that no program has
 */
export function compileOptions(name: string, outfile: string): BuildOptions {
  const { source, target } = entryOf(name);
  return optionsOf(source, target, outfile);
}

function entryOf(name: string): { source: string; target: string } {
  const entry = ENTRIES[`app/${name}.mjs`];
  if (entry === undefined) throw new Error(`no program is named ${name}`);
  return entry;
}

/** `index.html` and `assets/`, as the coordinator serves them. */
const DASHBOARD = "app/dashboard";
/** The verifier again, for an auditor who has a browser and no Node. */
const VERIFIER_PAGE = "app/sov-verify.html";

/** Packages of others that are part of our programs, and their licences; a release adds its engines. */
export const PACKAGE_NOTICES = "app/THIRD-PARTY-NOTICES.txt";

/** What ships as it is: path in the release → path in this tree. Of native packages only the binary that runs on the appliance. */
const COPIED: Readonly<Record<string, string>> = {
  "app/runners": "parts/agent/runners",
  "app/policies/realm.json": "policies/realm.json",
  "app/policies/cedar": "policies/cedar",
  "app/policies/controls.json": "policies/controls.json",
  "app/policies/retention.json": "policies/retention.json",
  "app/runbooks": "docs/operator/runbooks",
  "app/grafana/appliance.json": "parts/prometheus/grafana/appliance.json",
  "app/node_modules/@cedar-policy/cedar-wasm/package.json":
    "node_modules/@cedar-policy/cedar-wasm/package.json",
  "app/node_modules/@cedar-policy/cedar-wasm/nodejs":
    "node_modules/@cedar-policy/cedar-wasm/nodejs",
  "app/node_modules/better-sqlite3/package.json": "node_modules/better-sqlite3/package.json",
  "app/node_modules/better-sqlite3/LICENSE": "node_modules/better-sqlite3/LICENSE",
  "app/node_modules/better-sqlite3/lib": "node_modules/better-sqlite3/lib",
  "app/node_modules/better-sqlite3/prebuilds/linux-x64.node":
    "node_modules/better-sqlite3/prebuilds/linux-x64.node",
  "app/node_modules/pkcs11js/package.json": "node_modules/pkcs11js/package.json",
  "app/node_modules/pkcs11js/LICENSE": "node_modules/pkcs11js/LICENSE",
  "app/node_modules/pkcs11js/index.js": "node_modules/pkcs11js/index.js",
  "app/node_modules/pkcs11js/build/Release/pkcs11.node":
    "node_modules/pkcs11js/build/Release/pkcs11.node",
};

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

/** CommonJS packages inside an ES module still call `require`, and some ask where they are. */
const REQUIRE =
  'import { createRequire as __rtRequire } from "node:module"; const require = __rtRequire(import.meta.url);';
const BANNER = `${REQUIRE} const __filename = import.meta.filename; const __dirname = import.meta.dirname;`;

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

function optionsOf(
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
