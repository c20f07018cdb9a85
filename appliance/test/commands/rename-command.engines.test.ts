/** `appliance rename` against the real auditd; the installer's own part has tests of its own. */
import { rmSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { Command } from "commander";
import t, { type Test } from "tap";
import { readLeaves } from "@resontech/audit/testing/read-leaves";
import { temporaryFolder } from "@resontech/house/temporary-folder";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import { addRenameCommand } from "../../src/commands/rename-command.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { auditdWithSocket } from "../audit/auditd-with-socket.ts";

t.setTimeout(600_000);

const asRoot = { skip: process.getuid?.() === 0 ? false : "only root gives files to others" };

async function appliance(t: Test, nodes: object[]) {
  const root = temporaryFolder(t);
  const layout = new Layout(root, `rename-${process.pid}`);
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const socket = layout.run("audit", "appliance", "sock");
  const auditd = auditdWithSocket(t, root, { name: "appliance", socket });
  await auditd.start();
  const config = { name: "old.example", address: "10.1.2.3", agent: { node: "home" } };
  const context = {
    layout,
    config: config as unknown as ApplianceConfig,
    parts: [] as PartContext["parts"],
  } as PartContext;
  const given: string[] = [];
  const run = async (code: number, ...words: string[]): Promise<void> => {
    const program = new Command("appliance").exitOverride();
    const ask = (async () => ({ health: { nodes } })) as unknown as AskOperator;
    addRenameCommand(
      program,
      { openContext: () => context, ask, print: () => {}, table: () => {}, say: () => {} },
      async (_layout, args) => {
        given.push(args.join(" ").replace(root, "ROOT"));
        return code;
      },
    );
    await program.parseAsync(["rename", ...words], { from: "user" });
  };
  const recorded = async () => {
    await auditd.stop();
    return (await readLeaves(auditd.logDir)).filter(({ type }) => type === "admin.rename");
  };
  t.teardown(() => {
    process.exitCode = 0;
  });
  return { run, given, recorded };
}

t.test("it is on record before the installer begins; a look alone is not", asRoot, async (t) => {
  const { run, given, recorded } = await appliance(t, [{ node: "home", state: "READY" }]);
  await run(0, "new.example", "--dry-run");
  await run(1, "new.example", "--yes");
  t.equal(process.exitCode, 1, "the host is not fit");
  await run(0, "new.example", "--address", "10.1.2.4", "--yes");
  t.same(given, [
    "rename new.example --root ROOT --dry-run",
    "rename new.example --root ROOT --dry-run",
    "rename new.example --root ROOT --address 10.1.2.4 --dry-run",
    "rename new.example --root ROOT --address 10.1.2.4 --yes",
  ]);
  t.match(await recorded(), [
    { detail: { from: "old.example", to: "new.example", address: "10.1.2.4" } },
  ]);
});

t.test(
  "hosts that joined know the appliance by its name, and must leave first",
  asRoot,
  async (t) => {
    const nodes = [
      { node: "home", state: "READY" },
      { node: "gone", state: "REVOKED" },
      { node: "far", state: "DEAD" },
    ];
    const { run, given, recorded } = await appliance(t, nodes);
    await t.rejects(run(0, "new.example", "--yes"), { code: "nodes_joined", message: /: far$/ });
    t.same(given, []);
    t.same(await recorded(), []);
  },
);
