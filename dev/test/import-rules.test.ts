/** Every rule of `.dependency-cruiser.cjs` refuses what it is there to refuse: a rule with a slip in its pattern would let everything pass. */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { cruise, type ICruiseOptions, type ICruiseResult } from "dependency-cruiser";
import t from "tap";

const { forbidden, options } = createRequire(import.meta.url)("../../.dependency-cruiser.cjs") as {
  forbidden: { name: string }[];
  options: ICruiseOptions & { enhancedResolveOptions: object };
};

/** @property to a file of the tree, or what is imported by its name @property named its name among a room's exports; without, it is imported by its path */
type Breach = { rule: string; from: string; to: string; named?: string };

const breach = (rule: string, from: string, to: string, named?: string): Breach => ({
  ...{ rule, from, to },
  ...(named === undefined ? {} : { named }),
});

/** A room with a fixture, and a process with a file, that other rooms may name. */
const FIXTURE = { named: "@resontech/toy/testing/fixture", file: "toy/test/fixture.ts" };
const INSIDE = { named: "@resontech/coordinator/row", file: "parts/coordinator/src/db/row.ts" };

/** One of each line, from the ground up: each imports the next one above it. */
const LAYERS = [
  "db/a.ts",
  "authorization/a.ts",
  "storage/a.ts",
  "identity/a.ts",
  "kernel/a.ts",
  "submission/a.ts",
  "workloads/a.ts",
  "inference/a.ts",
  "http/a.ts",
  "control/a.ts",
  "compose/a.ts",
  "server.ts",
].map((file) => `parts/coordinator/src/${file}`);

/** What each folder of audit/src may not import of the others. */
const AUDIT = {
  format: "keys",
  approvals: "keys",
  producer: "keys",
  export: "keys",
  keys: "scrub",
  scrub: "keys",
};

/** What each part that knows more of the log than a producer may not import of audit/src. */
const LOG_READERS = { auditd: "scrub", "audit-out": "keys", vault: "export", witness: "keys" };

const BREACHES: readonly Breach[] = [
  ...Object.entries(AUDIT).map(([folder, other]) =>
    breach(`audit-${folder}`, `audit/src/${folder}/arrow.ts`, `audit/src/${other}/target.ts`),
  ),
  ...Object.entries(LOG_READERS).map(([part, other]) =>
    breach(`log-of-${part}`, `parts/${part}/src/arrow.ts`, `audit/src/${other}/target.ts`),
  ),
  breach("audit-has-these-folders-alone", "audit/src/fifth/a.ts", "audit/src/keys/target.ts"),
  breach("verifier-has-code-of-its-own", "verifier/src/own.ts", "frame/src/a.ts"),
  breach("verifier-judges-in-any-runtime", "verifier/src/tree/disk.ts", "node:fs"),
  ...LAYERS.slice(1).map((above, at) =>
    breach("no-arrow-upward-in-the-coordinator", LAYERS[at]!, above),
  ),
  breach(
    "every-folder-of-the-coordinator-has-its-layer",
    "cli/src/any.ts",
    "parts/coordinator/src/new/a.ts",
  ),
  breach("rooms-meet-through-exports", "proofs/bench/a.ts", "frame/src/target.ts"),
  breach("rooms-meet-through-exports", "parts/one/test/a.ts", "parts/other/test/target.ts"),
  breach("rooms-meet-through-exports", "parts/one/test/b.ts", "parts/index.ts"),
  breach("rooms-meet-through-exports", "parts/index.ts", "parts/one/src/state.ts"),
  breach("rooms-meet-through-exports", "parts/test/a.ts", "parts/one/src/state.ts"),
  breach("no-product-inside-a-process", "appliance/src/a.ts", INSIDE.file, INSIDE.named),
  breach("no-cycles", "dev/one.ts", "dev/other.ts"),
  breach("contracts-import-nothing-of-ours", "contracts/src/a.ts", "frame/src/a.ts"),
  breach("frame-imports-contracts-alone", "frame/src/b.ts", "policies/src/a.ts"),
  breach("keycloak-imports-nothing-of-ours", "parts/keycloak/src/a.ts", "frame/src/a.ts"),
  breach(
    "running-parts-never-import-one-another",
    "parts/agent/src/a.ts",
    "audit/src/keys/target.ts",
  ),
  breach("parts-never-import-one-another", "parts/one/src/a.ts", "parts/other/src/state.ts"),
  breach("parts-never-import-one-another", "parts/one/part.ts", "parts/keycloak/src/a.ts"),
  breach("parts-never-import-one-another", "parts/vault/src/b.ts", "parts/auditd/src/target.ts"),
  breach("parts-never-import-one-another", "parts/audit-out/src/b.ts", "verifier/src/target.ts"),
  breach("audit-imports-no-process", "audit/src/keys/b.ts", "parts/vault/src/c.ts"),
  breach("parts-write-into-the-log-as-producers", "parts/one/src/b.ts", "audit/src/keys/target.ts"),
  breach("parts-write-into-the-log-as-producers", "parts/vault/part.ts", "audit/src/keys/seal.ts"),
  breach("declarations-are-pure", "parts/one/src/operations.ts", "node:os"),
  breach("processes-hold-no-commands", "parts/one/src/main.ts", "parts/one/src/commands/a.ts"),
  breach("no-test-code-in-product", "installer/src/a.ts", "installer/test/a.ts"),
  breach("no-test-code-in-product", "installer/src/b.ts", FIXTURE.file, FIXTURE.named),
  breach("decisions-stay-pure", "installer/src/decisions/a.ts", "node:child_process"),
  breach("decisions-stay-pure", "audit/src/format/event/a.ts", "better-sqlite3"),
  breach("decisions-stay-pure", "parts/vault/src/decisions/a.ts", "node:fs"),
  breach(
    "authorization-stays-pure",
    "parts/coordinator/src/authorization/b.ts",
    "parts/coordinator/src/db/a.ts",
  ),
  breach("policies-are-read-by-two-files", "parts/coordinator/src/authorization/c.ts", "node:fs"),
  breach(
    "container-host-behind-its-interface",
    "parts/agent/src/members/a.ts",
    "parts/agent/src/substrate/container-host/a.ts",
  ),
  breach("engine-client-in-the-container-host-alone", "parts/agent/src/probes/a.ts", "dockerode"),
  breach(
    "substrate-interface-names-no-implementation",
    "parts/agent/src/substrate/a.ts",
    "parts/agent/src/version.ts",
  ),
  breach(
    "substrates-know-no-member",
    "parts/agent/src/substrate/container-host/b.ts",
    "parts/agent/src/staging/a.ts",
  ),
  breach("not-to-unresolvable", "dev/gone.ts", "nobody-has-this-package"),
  breach("not-to-dev-dep", "cli/src/grown.ts", "toy"),
];

/** Packages that are there; `toy` for development alone. */
const PACKAGES = ["better-sqlite3", "dockerode", "toy"];

const tree = mkdtempSync(join(tmpdir(), "rt-rules-"));
t.teardown(() => rmSync(tree, { recursive: true }));

function write(file: string, text: string): void {
  mkdirSync(dirname(join(tree, file)), { recursive: true });
  writeFileSync(join(tree, file), text);
}

const isOfTree = (to: string): boolean => to.endsWith(".ts");
// The way back of the cycle, which is told once.
const sources = new Map([["dev/other.ts", ['import "./one.ts";\n']]]);
for (const { from, to, named } of BREACHES) {
  const path = relative(dirname(from), to);
  const specifier = named ?? (isOfTree(to) ? (path.startsWith(".") ? path : `./${path}`) : to);
  sources.set(from, [...(sources.get(from) ?? []), `import "${specifier}";\n`]);
  if (isOfTree(to)) sources.set(to, sources.get(to) ?? []);
}
for (const [file, lines] of sources) write(file, lines.join("") || "export const a = 1;\n");
for (const name of PACKAGES) {
  write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: "index.js" }));
  write(`node_modules/${name}/index.js`, "module.exports = 1;\n");
}
for (const { named, file } of [FIXTURE, INSIDE]) {
  const [scope = "", name = "", ...path] = named.split("/");
  const [room = ""] = file.split(/\/(?:src|test)\//);
  const exports = { [`./${path.join("/")}`]: `./${relative(room, file)}` };
  write(`${room}/package.json`, JSON.stringify({ name: `${scope}/${name}`, exports }));
  const packages = join(tree, "node_modules", scope);
  mkdirSync(packages, { recursive: true });
  symlinkSync(relative(packages, join(tree, room)), join(packages, name));
}
const dependencies = { "better-sqlite3": "1.0.0", dockerode: "1.0.0" };
write(
  "package.json",
  JSON.stringify({ name: "planted", dependencies, devDependencies: { toy: "1.0.0" } }),
);

const { enhancedResolveOptions, ...cruiseOptions } = options;
const { output } = await cruise(
  [...new Set([...sources.keys()].map((file) => file.split("/")[0]!))],
  // Read by the program as they are here.
  { ...cruiseOptions, baseDir: tree, validate: true, ruleSet: { forbidden } as never },
  enhancedResolveOptions,
);
const found = (output as ICruiseResult).summary.violations;

t.test("every rule refuses a breach that is planted for it", async (t) => {
  for (const { rule, from, to } of BREACHES) {
    const refused = found.filter((one) => one.rule.name === rule && one.from === from);
    t.ok(
      refused.some((one) => !isOfTree(to) || one.to === to),
      `${rule}: ${from} imports ${to}`,
    );
  }
});

t.test(
  "what a room exports is no breach for another room that imports it by its name",
  async (t) => {
    t.same(
      found.filter(
        ({ rule, to }) =>
          rule.name === "rooms-meet-through-exports" && [FIXTURE.file, INSIDE.file].includes(to),
      ),
      [],
    );
  },
);

t.test("no rule is without a planted breach", async (t) => {
  const planted = new Set(BREACHES.map(({ rule }) => rule));
  t.same(
    [...new Set(forbidden.map(({ name }) => name))].filter((name) => !planted.has(name)),
    [],
  );
  const layers = forbidden.filter(({ name }) => name === "no-arrow-upward-in-the-coordinator");
  t.equal(layers.length, LAYERS.length - 1, "each line of the coordinator has its breach");
});
