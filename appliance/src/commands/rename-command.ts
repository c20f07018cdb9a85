/** `appliance rename`: another name, or another address, by which the perimeter knows the appliance. */
import { randomUUID } from "node:crypto";
import type { Command } from "commander";
import { confirm } from "@resontech/cli/confirm";
import { leaves } from "../audit/command-audit.ts";
import { connectOperator } from "../audit/operator-record.ts";
import type { PartContext } from "../parts/context.ts";
import type { AskOperator } from "@resontech/contracts/operator-routes";
import type { OperatorShell } from "./ask-operator.ts";
import { runInstaller } from "./run-installer.ts";

/** Their engines, agents and certificates of doors know the name before: they join again under the new one. */
export class NodesJoinedError extends Error {
  readonly code = "nodes_joined";
  readonly hint =
    "for each: appliance node remove NODE; once the appliance is renamed, appliance node add NODE and its command";

  constructor(nodes: readonly string[]) {
    super(`other hosts are nodes of this appliance and know it by its name: ${nodes.join(", ")}`);
  }
}

/** @param run the installer's verb with its arguments, answers its exit code */
export function addRenameCommand(
  program: Command,
  { openContext, ask }: OperatorShell,
  run: typeof runInstaller = runInstaller,
): void {
  leaves(program.command("rename <name>"), { event: "admin.rename" })
    .description(
      "another DNS name for the appliance: says what it costs, asks, then every part starts anew; jobs go on",
    )
    .option("--address <ip>", "another address of this host, where the ports are open")
    .option("--dry-run", "say what it costs and look at the host, change nothing", false)
    .option("--yes", "do not ask", false)
    .addHelpText(
      "after",
      "\nExamples:\n  appliance rename gpu.clinic.example --dry-run\n  appliance rename gpu.clinic.example --address 10.1.2.4",
    )
    .action(
      async (
        name: string,
        { address, dryRun, yes }: { address?: string; dryRun: boolean; yes: boolean },
      ) => {
        const context = openContext();
        const { layout, config } = context;
        // One that was cut may have left the appliance down: what was asked for goes on.
        if (config.name !== name) await requireNoNodes(context, ask);
        const args = ["rename", name, "--root", layout.root];
        if (address !== undefined) args.push("--address", address);
        const looked = await run(layout, [...args, "--dry-run"]);
        if (dryRun || looked !== 0) {
          process.exitCode = looked;
          return;
        }
        if (!yes) await confirm("go on? [y/N] ", /^y(es)?$/i);
        if (config.name !== name || address !== undefined)
          await recordRename(context, name, address);
        process.exitCode = await run(layout, [...args, "--yes"]);
      },
    );
}

/** @throws NodesJoinedError */
async function requireNoNodes({ config }: PartContext, ask: AskOperator): Promise<void> {
  const { health } = await ask("status");
  const others = health.nodes
    .filter(({ node, state }) => node !== config.agent?.node && state !== "REVOKED")
    .map(({ node }) => node);
  if (others.length > 0) throw new NodesJoinedError(others);
}

/** Records the new name before anything changes: the log itself starts anew on the way. */
async function recordRename(
  { layout, config }: PartContext,
  name: string,
  address: string | undefined,
): Promise<void> {
  await using producer = await connectOperator(layout);
  await producer.fact({
    type: "admin.rename",
    op: randomUUID(),
    actor: { sub: "appliance", kind: "operator" },
    object: { kind: "appliance", id: "appliance" },
    detail: { from: config.name, to: name, ...(address === undefined ? {} : { address }) },
  });
}
