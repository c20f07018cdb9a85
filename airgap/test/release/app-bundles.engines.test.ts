import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { COORDINATOR_NODE_FLAGS } from "@resontech/contracts/coordinator-config";
import type { VaultConfig } from "@resontech/contracts/vault-config";
import { SCHEMA_SHA256 } from "@resontech/audit/format/event/schema-digest";
import t from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { DEFAULT_CACHE } from "../../src/engines/ensure-engine.ts";
import { buildApps } from "../../src/release/app-bundles.ts";

/** Those that ship beside the programs, as they carry a binary. */
const PACKAGES = ["better-sqlite3", "@cedar-policy/cedar-wasm/nodejs"];

const PROGRAMS = [
  ...["coordinator", "policy-trial", "s3-front", "auditd", "audit-out", "vault", "audit-token"],
  ...["witness", "agent", "appliance", "installer", "sov-verify", "resontech"],
];

const app = join(await buildApps(new StepCache(t.testdir())), "app");

t.test("the same sources make the same bytes, wherever they are built", async (t) => {
  const other = join(await buildApps(new StepCache(DEFAULT_CACHE)), "app");
  const files = readdirSync(app, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(app.length));
  t.ok(files.includes("/resontech.mjs"));
  for (const file of files)
    t.ok(readFileSync(join(app, file)).equals(readFileSync(join(other, file))), file);
});

t.test("every process is one file that needs only Node and the one native package", async (t) => {
  for (const name of PROGRAMS)
    t.strictSame(
      importedBy(name).filter(
        (from) => !from.startsWith("node:") && !PACKAGES.includes(from) && !isBuiltin(from),
      ),
      [],
      name,
    );
});

t.test("no program loads Node's client of fetch for the sake of HTTP", async (t) => {
  // The witness carries no `require` with it.
  for (const name of PROGRAMS.filter((name) => name !== "witness"))
    t.strictSame(
      importedBy(name).filter((from) => from === "node:http" || from === "http"),
      [],
      name,
    );
});

t.test("programs hold the name of their schema set, and compute it at no start", async (t) => {
  for (const name of ["auditd", "coordinator", "s3-front", "vault"])
    t.match(codeOf(name), `SCHEMA_SHA256 = "${SCHEMA_SHA256}"`, name);
});

t.test("programs that decide hold the policies beside them, judged", async (t) => {
  const printed = execFileSync("sh", ["-c", "LC_ALL=C sha256sum * | sha256sum"], {
    ...{ cwd: join(app, "policies", "cedar"), encoding: "utf8" },
  });
  for (const name of ["coordinator", "policy-trial"])
    t.match(codeOf(name), `JUDGED_AT_BUILD = { "sha256": "${printed.slice(0, 64)}"`, name);
});

t.test(
  "the verifier ships as a page as well, whose policy allows its own script and style alone",
  async (t) => {
    const page = readFileSync(join(app, "sov-verify.html"), "utf8");
    const hashOf = (tag: string) =>
      createHash("sha256")
        .update(page.slice(page.indexOf(`<${tag}>`) + tag.length + 2, page.indexOf(`</${tag}>`)))
        .digest("base64");
    t.match(
      page,
      `default-src 'none'; script-src 'sha256-${hashOf("script")}'; style-src 'sha256-${hashOf("style")}'; form-action 'none'; base-uri 'none'"`,
    );
  },
);

t.test("the native package comes with the appliance's binary alone", async (t) => {
  const sqlite = join(app, "node_modules", "better-sqlite3");
  t.strictSame(readdirSync(join(sqlite, "prebuilds")), ["linux-x64.node"]);
  const script = `const db = new (require(${JSON.stringify(sqlite)}))(":memory:"); console.log(db.prepare("select 6 * 7 as n").get().n)`;
  t.equal(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim(), "42");
});

t.test(
  "the vault opens a token in the process that comes with it, by the module that comes with it",
  async (t) => {
    const root = t.testdir({ pin: "4711-0815" });
    const at = (...names: string[]): string => join(root, ...names);
    for (const folder of ["sealed", "keys", "epochs", "copies"])
      mkdirSync(at(folder), { mode: 0o700 });
    chmodSync(at("pin"), 0o400);
    const config: VaultConfig = {
      ...{
        dataDir: at("sealed"),
        keysDir: at("keys"),
        keyFile: at("vault.key"),
        epochsDir: at("epochs"),
        backupsDir: at("copies"),
      },
      ...{
        auditSocket: "/nowhere/audit",
        controlSocket: "/nowhere/control",
        tokensSocket: "/nowhere/tokens",
      },
      token: {
        module: "/nowhere/module.so",
        label: "vault",
        pinFile: at("pin"),
        keyLabel: "box.vault.acme",
      },
      retention: { leavesYears: 7, disclosuresMonths: 24, anonymousMonths: 24 },
      ...{ pollMs: 1_000, backupMs: 1_000, epochMs: 1_000, epochLifeMs: 1_000, logLevel: "info" },
    };
    writeFileSync(at("vault.json"), JSON.stringify(config));
    const { stderr } = spawnSync(
      process.execPath,
      [join(app, "vault.mjs"), "--config", at("vault.json")],
      { encoding: "utf8" },
    );
    t.match(
      stderr,
      /vault\.key\.p11: \/nowhere\/module\.so: \/nowhere\/module\.so: cannot open shared object file/,
    );
  },
);

t.test("the policies come with the engine and the program that judge them", async (t) => {
  const folder = join(app, "policies", "cedar");
  const show = Object.fromEntries(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), "utf8")]),
  );
  const { stdout } = spawnSync(
    process.execPath,
    // The coordinator runs the same engine under these.
    [...COORDINATOR_NODE_FLAGS, join(app, "policy-trial.mjs")],
    { input: `${JSON.stringify({ show })}\n`, encoding: "utf8" },
  );
  const shown = JSON.parse(stdout) as { sha256: string; policies: object[] };
  t.match(shown.sha256, /^[0-9a-f]{64}$/);
  t.ok(shown.policies.length > 60);
});

t.test("packages of others that are compiled in are named with their licences", async (t) => {
  const notices = readFileSync(join(app, "THIRD-PARTY-NOTICES.txt"), "utf8");
  // Of a process, of the dashboard, and one that ships as it is.
  for (const name of ["fastify", "react", "better-sqlite3"])
    t.match(notices, new RegExp(`^${name} \\d\\S*\nLicence: MIT\n\n\\S`, "m"), name);
  t.match(notices, /^lucide \d\S*\nLicence: ISC\n\nISC License/m, "drawings that lie in this tree");
  t.notMatch(notices, /^(esbuild|vite|tap) \d/m, "nothing that only builds or tests");
  t.notMatch(notices, /^@resontech\//m);
});

t.test("commands start from their one file and tell how they are used", async (t) => {
  for (const name of ["appliance", "installer", "sov-verify", "resontech"])
    t.match(
      execFileSync(process.execPath, [join(app, `${name}.mjs`), "--help"], { encoding: "utf8" }),
      /usage/i,
      name,
    );
});

t.test("what runs inside jobs ships as source, without its tests", async (t) => {
  t.ok(existsSync(join(app, "runners", "run.py")));
  t.ok(existsSync(join(app, "policies", "realm.json")));
  t.strictSame(
    readdirSync(join(app, "runners"), { recursive: true, encoding: "utf8" }).filter((name) =>
      /test|__pycache__/.test(name),
    ),
    [],
  );
});

function codeOf(program: string): string {
  return readFileSync(join(app, `${program}.mjs`), "utf8");
}

function importedBy(program: string): string[] {
  const imports = /^import\s(?:[^"']*?from\s*)?["']([^"']+)["']/gm;
  return [...codeOf(program).matchAll(imports)].map(([, from = ""]) => from);
}

function isBuiltin(name: string): boolean {
  return process.getBuiltinModule(name as "fs") !== undefined;
}
