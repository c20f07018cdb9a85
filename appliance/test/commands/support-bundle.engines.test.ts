/** `appliance support-bundle` on a root whose every corner has a secret and a name, with the real auditd, installer and tar. */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import type { ReleaseManifest } from "@resontech/contracts/release-manifest";
import { PARTS } from "@resontech/parts";
import { Command } from "commander";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { Journal } from "@resontech/installer/journal";
import { digestOf } from "@resontech/installer/request";
import { config as installed } from "@resontech/installer/testing/request";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { addSupportCommands } from "../../src/commands/support-commands.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

const RELEASE: ReleaseManifest = {
  ...{ formatVersion: 1, product: "resontech-appliance", version: "1.2.3", sourceDateEpoch: 1 },
  ...{ upgradeFrom: [], diskNeedBytes: 1, phases: [], tree: [], images: [], blobs: [] },
  engines: { nats: { version: "2.12.1", licence: "Apache-2.0", source: "x" } },
};
/** Each stands in a file of its own, and all of them in every log. */
const SECRETS = {
  "etc/secrets/coordinator/session.key": "kept-session-secret-1",
  "etc/secrets/postgres/password": 'p@ss"word\\of-the database',
  "etc/secrets/notifier/mail.secret": "hunter2",
  "etc/ca/root.key":
    "-----BEGIN PRIVATE KEY-----\nrootkeylinerootkeyline1\n-----END PRIVATE KEY-----\n",
  "etc/door-certificate/door.key": "the-customers-own-key",
  "data/agent/join-token": "join-me-once",
};
const JSON_SECRET = "s3-admin-secret-value";
const CREDENTIAL = "first-Password-9";
const PIN = "4711";

type Bundle = { names: string[]; text: string; read: (name: string) => string };

function plant(t: Test): { context: PartContext; root: string } {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `support-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  for (const [path, secret] of Object.entries(SECRETS)) put(path, secret);
  put("etc/secrets/s3/admin-key.json", JSON.stringify({ secretAccessKey: JSON_SECRET }));
  put("etc/secrets/auditd/log.key", "auditds-own-key-that-nobody-reads");
  put("etc/pin", PIN);
  put(
    "etc/audit-keys.json",
    JSON.stringify({ token: { module: "/m", label: "l", pinFile: join(root, "etc/pin") } }),
  );
  put("data/credentials.txt", `[sign-in]\nusername = anna\nfirst_password = ${CREDENTIAL}\n`);
  put("data/coordinator/jobs.txt", "data-of-a-job");
  const hot = [...Object.values(SECRETS), JSON_SECRET, CREDENTIAL, PIN];
  const lines = hot.flatMap((secret) => [
    `plain ${secret.replaceAll("\n", " ")} end`,
    JSON.stringify({
      level: 50,
      time: 1_795_700_000_000,
      msg: "failed",
      err: { message: `it was ${secret}` },
    }),
    `url ${encodeURIComponent(secret)} and ${Buffer.from(secret.trim()).toString("base64")}`,
  ]);
  lines.push("ERROR anna of 192.168.7.7 in anna-1a2b3c4d at anna@klinik.example");
  const log = `${lines.join("\n")}\n`;
  for (const part of ["coordinator", "keycloak", "door"]) put(`log/${part}.log`, log);
  put("log/door.log.1", `older\n${log}`);
  put("etc/appliance.json", JSON.stringify(installed));
  put("etc/coordinator.json", JSON.stringify({ note: `has ${JSON_SECRET}`, sessionKeyFile: "/k" }));
  put("etc/identity.json", JSON.stringify({ connections: [{ bindDn: "cn=anna,dc=klinik" }] }));
  const request = {
    ...{ bundle: "/media", keyPem: "k", root, username: "anna" },
    config: { ...installed, name: "localhost" },
  };
  new Journal(root).append({
    kind: "begin",
    release: "0".repeat(64),
    configuration: digestOf(request),
    request,
  });
  put("current/release-manifest.json", JSON.stringify(RELEASE));
  mkdirSync(join(root, "current/bin"));
  symlinkSync(process.execPath, join(root, "current/bin/node"));
  put(
    "current/app/installer.mjs",
    `import ${JSON.stringify(join(import.meta.dirname, "../../../installer/src/main.ts"))};`,
  );
  const context = {
    layout,
    config: { ...installed, instance: layout.instance, agent: null },
    release: RELEASE,
    parts: PARTS,
  };
  return { context, root };
}

const answering = (async (verb: string) =>
  verb === "user-list"
    ? { users: [{ username: "anna", bucket: "anna-1a2b3c4d" }] }
    : { projects: [] }) as unknown as AskOperator;
const silent: AskOperator = () => Promise.reject(new Error("nobody answers"));

async function run(context: PartContext, ask: AskOperator, ...words: string[]): Promise<unknown[]> {
  const said: unknown[] = [];
  const program = new Command("appliance").exitOverride().configureOutput({ writeErr: () => {} });
  addSupportCommands(program, {
    ...{ openContext: () => context, ask, print: (value) => said.push(value) },
    table: (_head, rows) => said.push(rows),
    say: (line) => said.push(line),
  });
  for (const command of program.commands)
    command.exitOverride().configureOutput({ writeErr: () => {} });
  await program.parseAsync(["support-bundle", ...words], { from: "user" });
  return said;
}

function open(t: Test, file: string): Bundle {
  const folder = temporaryFolder(t);
  t.equal(spawnSync("tar", ["-xzf", file, "-C", folder]).status, 0, "the real tar opens it");
  const [top = ""] = readdirSync(folder);
  const names = readdirSync(join(folder, top), { recursive: true }).map(String);
  const read = (name: string): string => readFileSync(join(folder, top, name), "utf8");
  return { names, read, text: gunzipSync(readFileSync(file)).toString() };
}

function requireClean(t: Test, { text }: Bundle): void {
  const values = [...Object.values(SECRETS), JSON_SECRET, CREDENTIAL, PIN].map((value) =>
    value.trim(),
  );
  for (const value of [...values, "rootkeyline"])
    for (const form of [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      Buffer.from(value).toString("base64"),
    ])
      t.notOk(
        new RegExp(
          `(?<![A-Za-z0-9])${form.replaceAll(/[^A-Za-z0-9]/g, String.raw`\$&`)}(?![A-Za-z0-9])`,
        ).test(text),
        `${form} is left`,
      );
  for (const value of ["auditds-own-key", "data-of-a-job", "192.168.7.7", "klinik", "anna"])
    t.notOk(text.includes(value), `${value} is left`);
}

t.test("no planted secret and no name is in the bundle, which the log has on record", async (t) => {
  const { context, root } = plant(t);
  const socket = context.layout.run("audit", "appliance", "sock");
  const auditd = auditdWithSocket(t, join(root, "elsewhere"), { name: "appliance", socket });
  await auditd.start();
  const file = join(root, "bundle.tar.gz");

  const preview = await run(context, answering, file, "--dry-run");
  t.match(JSON.stringify(preview), /status\.txt.*logs\/coordinator\.log/);
  t.throws(() => statSync(file), { code: "ENOENT" }, "a dry run writes nothing");
  await t.rejects(
    run(context, answering, file),
    { code: "not_confirmed" },
    "nobody is there to ask",
  );

  const [written] = (await run(context, answering, file, "--yes", "--json")) as [
    { sha256: string; bytes: number },
  ];
  t.equal(statSync(file).mode & 0o777, 0o600);
  t.equal(createHash("sha256").update(readFileSync(file)).digest("hex"), written.sha256);
  const bundle = open(t, file);
  requireClean(t, bundle);
  t.match(bundle.read("README.txt"), /admin\.support/);
  t.match(bundle.read("recent-errors.txt"), /coordinator ERROR failed/);
  t.match(bundle.read("versions.json"), /2\.12\.1/);
  t.match(JSON.parse(bundle.read("preflight.json")), {
    facts: { platform: "linux" },
    findings: [{ id: "root-user" }],
  });
  t.match(bundle.read("installer/journal.jsonl"), /"kind":"begin".*⟨person \d+⟩/);
  t.match(bundle.read("logs/door.log"), /^older\n/);
  const manifest = JSON.parse(bundle.read("manifest.json")) as {
    files: { path: string; sha256: string }[];
  };
  for (const { path, sha256 } of manifest.files)
    t.equal(createHash("sha256").update(bundle.read(path)).digest("hex"), sha256, path);
  await t.rejects(run(context, answering, file, "--yes"), { code: "file_exists" });

  await auditd.stop();
  const leaves = (await readLeaves(auditd.logDir)).filter(({ type }) => type === "admin.support");
  t.match(
    leaves.map(({ phase, detail }) => [phase, detail]),
    [
      ["requested", undefined],
      ["completed", { bundle_sha256: written.sha256, bytes: written.bytes }],
      ["requested", undefined],
      ["failed", undefined],
    ],
  );
});

t.test(
  "while nobody can say who people are, and nothing is recorded, only words of programs are told",
  async (t) => {
    const { context, root } = plant(t);
    const file = join(root, "bundle.tar.gz");
    await run(context, silent, file, "--yes", "--json");
    const bundle = open(t, file);
    requireClean(t, bundle);
    t.match(bundle.read("README.txt"), /took no record[^]*/);
    t.match(bundle.read("logs/coordinator.log"), /"msg":"failed"/);
    t.notMatch(bundle.read("logs/coordinator.log"), /it was|plain/);
  },
);

t.test("a bundle keeps within its room, the newest lines first", async (t) => {
  const { context, root } = plant(t);
  const line = (n: number): string =>
    `${JSON.stringify({ level: 30, n, words: `${n * 7919} `.repeat(20) })}\n`;
  writeFileSync(
    context.layout.log("coordinator.log"),
    Array.from({ length: 30_000 }, (_, n) => line(n)).join(""),
  );
  const file = join(root, "bundle.tar.gz");
  await run(context, answering, file, "--yes", "--json", "--max-mb", "1");
  t.ok(statSync(file).size <= 1_000_000);
  const bundle = open(t, file);
  t.ok(bundle.read("logs/coordinator.log").endsWith(line(29_999)), "the newest line is there");
  t.ok(bundle.text.length <= 1_000_000);
});

t.test("a secret that can't be read stops the bundle: nobody could look for it", async (t) => {
  const { context, root } = plant(t);
  rmSync(join(root, "etc/secrets/postgres/password"));
  symlinkSync("/etc/hostname", join(root, "etc/secrets/postgres/password"));
  await t.rejects(run(context, answering, join(root, "b"), "--yes"), {
    code: "secrets_unreadable",
  });
});
