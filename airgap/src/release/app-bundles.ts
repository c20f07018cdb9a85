/** Our own processes as they ship: one compiled file each, plus the one package that carries a native binary. */
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import type { StepCache } from "../cache/step-cache.ts";

const repository = join(import.meta.dirname, "..", "..", "..");

/** Process → its entry. The verifier alone must run under any Node from 20 on an auditor's machine. */
const ENTRIES: Readonly<Record<string, { source: string; target: string }>> = {
  "coordinator.mjs": { source: "coordinator/src/server.ts", target: "node26" },
  "auditd.mjs": { source: "audit/src/auditd/main.ts", target: "node26" },
  "sov-verify.mjs": { source: "audit/src/verifier/main.ts", target: "node20" },
  "agent.mjs": { source: "agent/src/main.ts", target: "node26" },
  "appliance.mjs": { source: "appliance/src/main.ts", target: "node26" },
  "installer.mjs": { source: "installer/src/main.ts", target: "node26" },
};

/** Files that ship as they are: folder in this tree → folder in the release. */
const COPIED: Readonly<Record<string, string>> = {
  "agent/runners": "app/runners",
  "policies/realm.json": "app/policies/realm.json",
};

/** CommonJS packages inside an ES module still call `require`, and some ask where they are. */
const BANNER =
  'import { createRequire as __rtRequire } from "node:module"; const require = __rtRequire(import.meta.url); const __filename = import.meta.filename; const __dirname = import.meta.dirname;';

/** A process that the release must hold has no source. */
export class EntryMissingError extends Error {
  readonly code = "entry_missing";
}

/** Bundles every process; answers a folder with `app/…`. The result is keyed by the sources and the lock of packages. */
export async function buildApps(cache: StepCache): Promise<string> {
  for (const [name, { source }] of Object.entries(ENTRIES)) {
    if (!existsSync(join(repository, source)))
      throw new EntryMissingError(`app/${name} is built from ${source}, which is not there`);
  }
  return await cache.step("compile apps", { sources: digestSources(), revision: 4 }, async (into) => {
    const app = join(into, "app");
    mkdirSync(app);
    for (const [name, { source, target }] of Object.entries(ENTRIES)) {
      const isVerifier = target === "node20";
      await build({
        absWorkingDir: repository,
        entryPoints: [source],
        outfile: join(app, name),
        bundle: true,
        platform: "node",
        format: "esm",
        target,
        external: isVerifier ? [] : ["better-sqlite3"],
        banner: isVerifier ? {} : { js: BANNER },
        keepNames: true,
        legalComments: "none",
        logLevel: "error",
      });
    }
    copySqlite(join(app, "node_modules", "better-sqlite3"));
    for (const [from, to] of Object.entries(COPIED)) {
      cpSync(join(repository, from), join(into, to), {
        recursive: true,
        filter: (path) => !/(^|\/)(__pycache__|test|tests)(\/|$)/.test(path.slice(repository.length)),
      });
    }
    mkdirSync(join(into, "bin"));
    writeFileSync(
      join(into, "bin", "appliance"),
      '#!/bin/sh\n# The `appliance` command on the release\'s own Node.\nhere=$(dirname "$(readlink -f "$0")")\nexec "$here/node" "$here/../app/appliance.mjs" "$@"\n',
      { mode: 0o755 },
    );
  });
}

/** Of the prebuilt binaries only the one that runs on the appliance. */
function copySqlite(into: string): void {
  const from = join(repository, "node_modules", "better-sqlite3");
  for (const part of ["package.json", "LICENSE", "lib", "prebuilds/linux-x64.node"])
    cpSync(join(from, part), join(into, part), { recursive: true });
}

function digestSources(): string {
  const hash = createHash("sha256");
  const rooms = ["contracts", "audit", "coordinator", "agent", "registry-mirror", "policies", "airgap", "appliance", "installer"];
  for (const room of rooms) {
    const files = readdirSync(join(repository, room), { recursive: true, encoding: "utf8" })
      .filter(
        (name) =>
          /^(src|runners)\/|^realm\.json$|^package\.json$/.test(name) &&
          !name.includes("node_modules") &&
          /\.(ts|py|json)$/.test(name),
      )
      .sort();
    for (const name of files)
      hash
        .update(`${room}/${name}\0`)
        .update(readFileSync(join(repository, room, name)))
        .update("\0");
  }
  return hash.update(readFileSync(join(repository, "package-lock.json"))).digest("hex");
}
