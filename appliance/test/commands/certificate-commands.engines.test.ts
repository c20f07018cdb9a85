/** `appliance certificates` against the real auditd, with a customer's authority of the real openssl. */
import { hash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { door } from "@resontech/door/part";
import { s3Front } from "@resontech/s3-front/part";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { splitTrust } from "@resontech/contracts/door-authorities";
import { Command } from "commander";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { CertificateAuthority } from "../../src/ca/certificate-authority.ts";
import { writeTrust } from "../../src/ca/door-certificate.ts";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { awaitTrust } from "../../src/commands/await-trust.ts";
import { addCertificateCommands } from "../../src/commands/certificate-commands.ts";
import { renewLiveDoors } from "../../src/first-boot/prepare.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { answeringSupervisor } from "../supervisor/answering-supervisor.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";
import { CustomersPki } from "@resontech/house/customers-pki";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };

async function appliance(t: Test) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `certificates-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  for (const folder of [layout.etc, layout.secrets("door"), layout.secrets("s3Front")])
    mkdirSync(folder, { recursive: true });
  await new CertificateAuthority(layout.caDir).ensureRoot("appliance");
  const config = {
    name: "gpu.hospital.example",
    address: "10.1.2.3",
    uidBase: 64_100,
    agent: null,
  };
  const context = {
    layout,
    config: config as unknown as ApplianceConfig,
    parts: [door, s3Front] as PartContext["parts"],
  } as PartContext;
  await renewLiveDoors(context);
  const socket = layout.run("audit", "appliance", "sock");
  const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
  await auditd.start();
  const pki = new CustomersPki(join(root, "pki"));
  const { cert, key } = pki.leaf();
  writeFileSync(join(root, "chain.pem"), cert + pki.intermediate);
  writeFileSync(join(root, "key.pem"), key);
  const given = [
    "--cert",
    join(root, "chain.pem"),
    "--key",
    join(root, "key.pem"),
    "--ca",
    pki.file("root.crt"),
  ];
  const said: unknown[] = [];
  const state = { restarts: 0 };
  const run = async (ask: AskOperator, ...words: string[]) => {
    const program = new Command("appliance").exitOverride();
    addCertificateCommands(
      program,
      {
        ...{ openContext: () => context, ask, print: (value: unknown) => said.push(value) },
        table: (_head, rows) => said.push(rows),
        say: (line) => said.push(line),
      },
      {
        restart: async () => {
          state.restarts += 1;
        },
        tell: (line) => said.push(line),
      },
    );
    for (const command of program.commands.flatMap((group) => [group, ...group.commands]))
      command.exitOverride().configureOutput({ writeErr: () => {} });
    await program.parseAsync(["certificates", ...words], { from: "user" });
  };
  const shown = async (): Promise<string> => {
    await renewLiveDoors(context);
    return readFileSync(layout.secrets("door", "server.crt"), "utf8");
  };
  return {
    root,
    layout,
    auditd,
    pki,
    given,
    said,
    state,
    run,
    shown,
    chain: cert + pki.intermediate,
  };
}

const nobody: AskOperator = () => Promise.reject(new Error("the coordinator is not asked"));
const nodes = (...health: object[]) =>
  (async () => ({ health: { nodes: health } })) as unknown as AskOperator;

t.test(
  "a customer's certificate is judged, put into the doors and taken out, each on record",
  asRoot,
  async (t) => {
    const { root, layout, auditd, given, said, state, run, shown, chain } = await appliance(t);
    const own = await shown();
    await run(nobody, "--json");
    t.match(said.at(-1), [{ file: /door\/server\.crt$/ }], "show is what the group does by itself");
    await run(nobody, "use", ...given, "--check-only");
    t.match(said.at(-1), /good for gpu\.hospital\.example until 20/);
    t.equal(await shown(), own);

    await run(nobody, "use", ...given);
    t.equal(await shown(), chain);
    t.equal(state.restarts, 0, "nothing runs, so nothing is started anew");
    t.match(said.at(-1), /from the next start on/);
    await run(nobody, "show", "--json");
    t.match(JSON.stringify(said.at(-1)), /door-certificate\/door\.crt/);
    t.notMatch(
      JSON.stringify(said.at(-1)),
      /secrets\/door\/server\.crt|trust\.crt/,
      "each is told once",
    );
    await run(nobody);
    t.equal(said.at(-1), "the doors show the customer's certificate");

    await run(nobody, "use", "--own");
    t.not(await shown(), chain);
    await t.rejects(run(nobody, "use", "--own"), { code: "commander.invalidArgument" });

    writeFileSync(join(root, "other.pem"), "nothing");
    const before = await shown();
    for (const [code, ...words] of [
      ["commander.invalidArgument", "use", ...given.slice(0, 4)],
      ["commander.invalidArgument", "use", ...given.slice(0, 5), join(root, "none")],
      ["key_unreadable", "use", ...given.slice(0, 3), join(root, "other.pem"), ...given.slice(4)],
    ] as const)
      await t.rejects(run(nobody, ...words), { code }, code);
    t.equal(await shown(), before);
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(
      ({ type }) => type === "admin.certificates",
    );
    t.match(
      leaves.map(({ phase, detail }) => [phase, detail]),
      [
        [
          "requested",
          { change: "used", cert_sha256: /^[0-9a-f]{64}$/, ca_sha256: /^[0-9a-f]{64}$/ },
        ],
        ["completed", undefined],
        ["requested", { change: "own" }],
        ["completed", undefined],
      ],
    );
    t.equal(
      readFileSync(layout.rootCert, "utf8").trim(),
      splitTrust(readFileSync(layout.trustCert, "utf8")).root.trim(),
    );
  },
);

t.test(
  "on an appliance that runs, every node that lives must trust the authority before the doors show its certificate",
  asRoot,
  async (t) => {
    const { layout, pki, given, said, state, run, shown, chain } = await appliance(t);
    await answeringSupervisor(t, layout.supervisorSocket, {});
    const authority = hash("sha256", pki.ca);
    const dead = { node: "gone", state: "DEAD" };
    let asked = 0;
    const learning = (async () => {
      asked += 1;
      t.not(await shown(), chain, "not before it is trusted");
      if (asked === 1)
        await t.rejects(
          run(nobody, "use", ...given),
          { code: "already_running" },
          "one change at a time",
        );
      return {
        health: {
          nodes: [
            dead,
            { node: "b", state: "READY", trusts: asked < 3 ? hash("sha256", "") : authority },
          ],
        },
      };
    }) as unknown as AskOperator;
    await run(learning, "use", ...given);
    t.equal(asked, 3);
    t.equal(state.restarts, 1);
    t.equal(await shown(), chain);
    t.equal(said.at(-1), "in force: the doors show the customer's certificate");
  },
);

t.test("a node that does not say that it trusts stops the change, but by force", async (t) => {
  const trust = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  const told: string[] = [];
  const tell = (line: string): void => void told.push(line);
  const old = nodes(
    { node: "old", state: "READY" },
    { node: "b", state: "SUSPECT", trusts: hash("sha256", "") },
  );
  await t.rejects(awaitTrust(old, trust, { tell, isForced: false, limitMs: 0 }), {
    ...{ code: "nodes_lack_ca", message: /^old did not say/ },
  });
  await awaitTrust(old, trust, { tell, isForced: true, limitMs: 0 });
  t.same(told, ["old: not told of the authority"]);
});

t.test("the trust of a root alone is the root", async (t) => {
  const layout = new Layout(t.testdir({ etc: { ca: { "root.crt": "root\n" } } }), "x");
  writeTrust(layout);
  t.equal(readFileSync(layout.trustCert, "utf8"), "root\n");
});
