import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import { StepCache } from "../../src/cache/step-cache.ts";
import { buildApps } from "../../src/release/app-bundles.ts";

const app = join(await buildApps(new StepCache(t.testdir())), "app");

t.test("every process is one file that needs only Node and the one native package", async (t) => {
  for (const name of [
    "coordinator",
    "s3-front",
    "auditd",
    "audit-out",
    "vault",
    "witness",
    "agent",
    "appliance",
    "installer",
    "sov-verify",
    "resontech",
  ]) {
    const code = readFileSync(join(app, `${name}.mjs`), "utf8");
    const imported = [...code.matchAll(/^import\s(?:[^"']*?from\s*)?["']([^"']+)["']/gm)].map((match) => match[1] ?? "");
    t.strictSame(
      imported.filter((from) => !from.startsWith("node:") && from !== "better-sqlite3" && !isBuiltin(from)),
      [],
      name,
    );
  }
});

t.test("the verifier ships as a page as well, whose policy allows its own script and style alone", async (t) => {
  const page = readFileSync(join(app, "sov-verify.html"), "utf8");
  const hashOf = (tag: string) =>
    createHash("sha256")
      .update(page.slice(page.indexOf(`<${tag}>`) + tag.length + 2, page.indexOf(`</${tag}>`)))
      .digest("base64");
  t.match(
    page,
    `default-src 'none'; script-src 'sha256-${hashOf("script")}'; style-src 'sha256-${hashOf("style")}'; form-action 'none'; base-uri 'none'"`,
  );
});

t.test("the native package comes with the appliance's binary alone", async (t) => {
  const sqlite = join(app, "node_modules", "better-sqlite3");
  t.strictSame(readdirSync(join(sqlite, "prebuilds")), ["linux-x64.node"]);
  const script = `const db = new (require(${JSON.stringify(sqlite)}))(":memory:"); console.log(db.prepare("select 6 * 7 as n").get().n)`;
  t.equal(execFileSync(process.execPath, ["-e", script], { encoding: "utf8" }).trim(), "42");
});

t.test("commands start from their one file and tell how they are used", async (t) => {
  for (const name of ["appliance", "installer", "sov-verify", "resontech"])
    t.match(execFileSync(process.execPath, [join(app, `${name}.mjs`), "--help"], { encoding: "utf8" }), /usage/i, name);
});

t.test("what runs inside jobs ships as source, without its tests", async (t) => {
  t.ok(existsSync(join(app, "runners", "run.py")));
  t.ok(existsSync(join(app, "policies", "realm.json")));
  t.strictSame(
    readdirSync(join(app, "runners"), { recursive: true, encoding: "utf8" }).filter((name) => /test|__pycache__/.test(name)),
    [],
  );
});

function isBuiltin(name: string): boolean {
  return process.getBuiltinModule(name as "fs") !== undefined;
}
