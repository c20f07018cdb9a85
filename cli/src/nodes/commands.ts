/** `resontech nodes`: where jobs run, and what of it is free. */
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { settingsFrom } from "../settings.ts";
import { size } from "../size.ts";
import { type Table, tableOfNodes, tablesOfNode } from "./node-tables.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

const MIB = 1024 ** 2;

export function addNodeCommands(program: Command, { say, table }: Shell): void {
  const settings = () => settingsFrom(process.env);
  const show = ({ head, rows }: Table) => table(head, rows);
  const out = (text: string) => process.stdout.write(text);
  const nodes = program
    .command("nodes")
    .description("where jobs run: nodes for an administrator, workers for everybody")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech nodes ls\n  resontech nodes show node-a\n  resontech nodes workers --json",
    );

  nodes
    .command("ls", { isDefault: true })
    .description("nodes, and how many of their workers are held; for an administrator")
    .option("--json", "one JSON line for each node", false)
    .action(async ({ json }: { json: boolean }) => {
      const found = await getJson(settings(), "/api/nodes");
      if (json) for (const node of found) out(`${JSON.stringify(node)}\n`);
      else if (found.length > 0) show(tableOfNodes(found));
      if (found.length === 0) say("no node has joined; `appliance node add` brings one in");
    });

  nodes
    .command("show <node>")
    .description(
      "one node with its workers and what runs there; for an administrator who signed in",
    )
    .option("--json", "as the appliance says it", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const found = await getJson(settings(), "/api/nodes/{id}", { params: { id } });
      if (json) return void out(`${JSON.stringify(found)}\n`);
      for (const [at, one] of tablesOfNode(found).entries()) {
        if (at > 0) out("\n");
        show(one);
      }
    });

  nodes
    .command("workers")
    .description("workers that a job may ask for, what they cost, and which are free")
    .option("--json", "one JSON line for each worker", false)
    .action(async ({ json }: { json: boolean }) => {
      const path = "/api/customer/dashboard/workers/stats";
      const { workers } = await getJson(settings(), path);
      if (json) for (const worker of workers) out(`${JSON.stringify(worker)}\n`);
      else if (workers.length > 0)
        table(
          ["WORKER", "NODE", "MODEL", "STATE", "FREE MEMORY", "CENTS/H"],
          workers.map((worker) => [
            ...[worker.id, worker.node, worker.model, worker.status],
            ...[size(worker.free_memory_mb * MIB), String(worker.price)],
          ]),
        );
      if (workers.length === 0) say("no worker is online");
    });
}
