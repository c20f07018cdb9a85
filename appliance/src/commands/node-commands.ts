/** `appliance node …`: nodes, what runs there, and taking one out of placement. */
import type { NodeFacts, NodeWorkerFacts } from "@resontech/contracts/operator-control";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import type { OperatorShell } from "./ask-operator.ts";
import { formatSize, formatSpan } from "./decisions/quantities.ts";

const WORKER_HEAD = [
  "WORKER",
  "MODEL",
  "MEMORY",
  "ARCHITECTURE",
  "DRIVER",
  "PCI",
  "NUMA",
  "GRADE",
  "USE",
  "TAKES WORK",
];
const HEAD = ["NODE", "STATE", "WORKERS", "BUSY", "LAST BEAT", "DISK", "TAKES WORK"];

export function addNodeCommands(program: Command, { ask, print, table, say }: OperatorShell): void {
  const node = program
    .command("node")
    .description("nodes: list, show, drain, undrain; `join-token` admits one")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance node ls\n  appliance node drain gpu-3\n  appliance node show gpu-3",
    );

  leaves(node.command("ls"), { none: "status" })
    .description("every node with its workers")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { nodes } = await ask({ verb: "node-list" });
      if (json) print(nodes);
      else table(HEAD, nodes.map(row), "no node has joined: appliance join-token NAME");
    });

  leaves(node.command("show <node>"), { none: "status" })
    .description("one node and what still runs there")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const { node: shown, members, workers } = await ask({ verb: "node-show", node: id });
      if (json) return print({ node: shown, members, workers });
      table(HEAD, [row(shown)], "");
      say("");
      table(WORKER_HEAD, workers.map(workerRow), "it has told of no workers");
      for (const line of workers.flatMap(notesOf)) say(line);
      say("");
      table(
        ["JOB", "ROLE", "SITE", "WORKER", "STATE"],
        members.map(({ job, role, site, worker, state }) => [
          job,
          role,
          site ?? "-",
          worker ?? "-",
          state,
        ]),
        "nothing runs there",
      );
    });

  leaves(node.command("drain <node>"), { event: "iam.node.change", loggedBy: "coordinator" })
    .description("place nothing new there; what runs there runs to its end")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const drained = await ask({ verb: "node-drain", node: id });
      if (json) return print(drained);
      say(
        drained.members === 0
          ? `${id} takes no work, and nothing runs there`
          : `${id} takes no new work; ${drained.members} members run on: appliance node show ${id}`,
      );
    });

  leaves(node.command("undrain <node>"), { event: "iam.node.change", loggedBy: "coordinator" })
    .description("let the node take work again")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const undrained = await ask({ verb: "node-undrain", node: id });
      if (json) print(undrained);
      else say(`${id} takes work again`);
    });
}

function workerRow(worker: NodeWorkerFacts): string[] {
  const { model, memoryBytes, architecture, driver, pciAddress, numaNode, grade, unfit, use } =
    worker;
  return [
    ...[worker.worker, model, formatSize(memoryBytes), architecture ?? "-", driver ?? "-"],
    ...[pciAddress ?? "-", numaNode === null ? "-" : String(numaNode), grade ?? "-"],
    use === null ? "-" : useText(use),
    unfit === null ? "yes" : "no",
  ];
}

/** `91 %, 19.5 GiB, 268 W, 63 °C`, as far as it is told. */
function useText(use: NonNullable<NodeWorkerFacts["use"]>): string {
  const { utilizationPercent, memoryInUseBytes, powerWatts, temperatureC } = use;
  return [
    ...(utilizationPercent === undefined ? [] : [`${Math.round(utilizationPercent)} %`]),
    formatSize(memoryInUseBytes),
    ...(powerWatts === undefined ? [] : [`${Math.round(powerWatts)} W`]),
    ...(temperatureC === undefined ? [] : [`${Math.round(temperatureC)} °C`]),
  ].join(", ");
}

/** Why a worker takes no work, and what it lacks for the least that is promised. */
function notesOf({ worker, unfit, grade, shortOf }: NodeWorkerFacts): string[] {
  return [
    ...(unfit === null ? [] : [`${worker} takes no work: ${unfit}`]),
    ...(grade === "unverified" ? [`${worker} is unverified: ${shortOf.join("; ")}`] : []),
  ];
}

function row({ node, state, workers, busy, drained, silentS, freeBytes }: NodeFacts): string[] {
  return [
    ...[
      node,
      state,
      String(workers),
      String(busy),
      silentS === null ? "not heard" : `${formatSpan(silentS)} ago`,
    ],
    freeBytes === null ? "-" : `${formatSize(freeBytes)} free`,
    drained === null ? "yes" : `no: ${drained}`,
  ];
}
