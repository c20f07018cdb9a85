/** `appliance outbound` against the real auditd, and what the gateway reads of it. */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { Command } from "commander";
import t from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import { TestPki } from "@resontech/house/test-pki";
import { AllowedHosts } from "@resontech/inference-gateway/allowed-hosts";
import { addOutboundCommands } from "@resontech/inference-gateway/outbound-commands";
import { hostShell } from "../../src/commands/host-shell.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };

t.test(
  "a host is on record before the gateway may dial it, and so is its end",
  asRoot,
  async (t) => {
    const root = temporaryFolder(t);
    const layout = new Layout(root, `outbound-${process.pid}`);
    t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
    mkdirSync(layout.etc);
    const socket = layout.run("audit", "appliance", "sock");
    const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
    await auditd.start();
    const said: unknown[] = [];
    const context = { layout, config: { uidBase: 64_100 } as ApplianceConfig } as PartContext;
    const run = async (...words: string[]) => {
      const program = new Command("appliance").exitOverride();
      const shell = hostShell({
        openContext: () => context,
        ask: () => Promise.reject(new Error("the coordinator is not asked")),
        print: (value) => said.push(value),
        table: (_head, rows, none) => said.push(rows.length === 0 ? none : rows),
        say: (line) => said.push(line),
      });
      addOutboundCommands(program, shell);
      for (const command of program.commands.flatMap((group) => [group, ...group.commands]))
        command.exitOverride().configureOutput({ writeErr: () => {} });
      await program.parseAsync(["outbound", ...words], { from: "user" });
    };
    const gateway = new AllowedHosts(layout.setting("outbound.json"), (error) =>
      t.fail(String(error)),
    );
    const pki = await TestPki.make(join(root, "pki"), "127.0.0.1");
    const caFile = join(root, "ca.pem");
    writeFileSync(caFile, `words before it\n${pki.rootPem}\n`);

    await run("ls");
    t.match(said.at(-1), /nobody outside is dialled/);
    await run("allow", "Data.Example.org");
    await run("allow", "10.2.3.4:8443", "--network", "10.2.0.0/16", "--ca-file", caFile);
    t.same(gateway.find("data.example.org", 443), { host: "data.example.org", port: 443 });
    t.match(gateway.find("10.2.3.4", 8443), {
      ...{ networks: ["10.2.0.0/16"], ca: /^-----BEGIN CERTIFICATE-----/ },
    });
    await run("ls", "--json");
    t.match(said.at(-1), {
      hosts: [{ host: "data.example.org" }, { host: "10.2.3.4", port: 8443 }],
    });

    const before = readFileSync(layout.setting("outbound.json"), "utf8");
    for (const wrong of [
      ["allow", "https://data.example.org"],
      ["allow", "*.example.org"],
      ["allow", "a.example", "--network", "10.0.0.0"],
      ["allow", "a.example", "--ca-file", layout.setting("outbound.json")],
      ["forbid", "b.example"],
    ])
      await t.rejects(run(...wrong), { code: "commander.invalidArgument" }, wrong.join(" "));
    t.equal(readFileSync(layout.setting("outbound.json"), "utf8"), before);

    await run("forbid", "data.example.org");
    t.equal(gateway.find("data.example.org", 443), null, "at once");
    await auditd.stop();
    const leaves = (await readLeaves(auditd.logDir)).filter(
      ({ type }) => type === "admin.outbound",
    );
    t.match(
      leaves.map(({ phase, detail }) => [phase, detail]),
      [
        ["requested", { change: "allowed", host: "data.example.org", port: 443 }],
        ["completed", undefined],
        [
          "requested",
          { change: "allowed", host: "10.2.3.4", networks: 1, ca_sha256: /^[0-9a-f]{64}$/ },
        ],
        ["completed", undefined],
        ["requested", { change: "forbidden", host: "data.example.org", port: 443 }],
        ["completed", undefined],
      ],
    );
  },
);
