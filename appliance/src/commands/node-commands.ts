/** `appliance node …`: nodes, what runs there, and taking one out of placement. */
import { EXIT } from "@resontech/contracts/exit-codes";
import { resolve } from "node:path";
import type {
  NodeFacts,
  NodeReleaseFacts,
  NodeWorkerFacts,
} from "@resontech/contracts/operator-nodes";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { joinFacts, writeNodeFolder } from "./add-node.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { joinCommand } from "@resontech/contracts/join-command";
import { whyNoWork } from "@resontech/contracts/node-states";
import { DEFAULT_WAIT_S, type RemoveOptions, removeNode, waitSeconds } from "./remove-node.ts";
import { MAX_TOKEN_S, tokenSeconds } from "./token-seconds.ts";
import { upgradeText } from "./decisions/nodes-upgrading.ts";
import { formatSize, formatSpan } from "../status/decisions/quantities.ts";
import {
  requireUpgraded,
  UPGRADE_WAIT_S,
  upgradeNodes,
  type UpgradeNodesOptions,
} from "./upgrade-nodes.ts";

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
const RELEASE_HEAD = [...HEAD, "RELEASE", "UPGRADE"];

export function addNodeCommands(program: Command, shell: OperatorShell): void {
  const { openContext, ask, print, table, say } = shell;
  const node = program
    .command("node")
    .description("nodes: add, list, show, drain, undrain, upgrade, remove")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance node add gpu-3\n  appliance node ls\n  appliance node drain gpu-3\n  appliance node upgrade --all\n  appliance node remove gpu-3",
    );

  leaves(node.command("add <node>"), { event: "iam.node.join-token", loggedBy: "coordinator" })
    .description(
      "print the one command that makes another host a node, with a one-use token for it",
    )
    .option("--out <dir>", "write a folder to carry to a host that can't fetch from this one")
    .option("--ttl <seconds>", `validity of the token, 1 to ${MAX_TOKEN_S}`, tokenSeconds, 3600)
    .option("--json", "one JSON line", false)
    .action(
      async (id: string, { out, ttl, json }: { out?: string; ttl: number; json: boolean }) => {
        const context = openContext();
        const facts = await joinFacts(context, id);
        const folder = out === undefined ? null : resolve(out);
        const scriptSha256 =
          folder === null ? facts.scriptSha256 : writeNodeFolder(context, facts, folder);
        const { token, expiresAt } = await ask("join-token", { node: id, ttlS: ttl });
        const command = folder === null ? joinCommand(facts) : "sh join-node.sh";
        const { rootSha256, keySha256 } = facts;
        if (json)
          return print({
            node: id,
            command,
            token,
            expiresAt,
            rootSha256,
            keySha256,
            scriptSha256,
          });
        if (folder === null) say("Run this as root on the new host:\n");
        else {
          say(`Carry ${folder} to the new host. Compare there: sha256sum join-node.sh`);
          say(`  ${scriptSha256}`);
          say("Then run this as root in that folder:\n");
        }
        say(`${command}\n`);
        say(`It asks for this token, which is good once until ${expiresAt}:\n\n${token}\n`);
        say(`It compares the root certificate  SHA-256 ${rootSha256}`);
        say(`and the key of the release        SHA-256 ${keySha256}`);
      },
    );

  leaves(node.command("ls"), { none: "status" })
    .description("every node with its workers")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const nodes = await ask("node-list");
      const { releases } = await ask("node-releases");
      const of = (id: string) => releases.find((one) => one.node === id) ?? null;
      if (json) return print(nodes.map((one) => ({ ...one, ...releaseOf(of(one.node)) })));
      table(
        RELEASE_HEAD,
        nodes.map((one) => [...row(one), ...releaseCells(of(one.node))]),
        "no node has joined: appliance node add NAME",
      );
    });

  leaves(node.command("show <node>"), { none: "status" })
    .description("one node and what still runs there")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const { node: shown, members, workers } = await ask("node-show", { id });
      const { releases } = await ask("node-releases");
      const release = releases.find(({ node: of }) => of === id) ?? null;
      if (json) return print({ node: { ...shown, ...releaseOf(release) }, members, workers });
      table(RELEASE_HEAD, [[...row(shown), ...releaseCells(release)]], "");
      const failed = release?.upgrade?.failed ?? null;
      if (failed !== null)
        say(
          `it did not bring ${release?.upgrade?.release ?? ""}: ${failed.message} [${failed.code}]`,
        );
      say("");
      table(WORKER_HEAD, workers.map(workerRow), "it has told of no workers");
      for (const line of workers.flatMap(notesOf)) say(line);
      say("");
      table(
        ["JOB", "ROLE", "SITE", "WORKERS", "STATE"],
        members.map(({ job, role, site, workers: held, state }) => [
          job,
          role,
          site ?? "-",
          held.join(", ") || "-",
          state,
        ]),
        "nothing runs there",
      );
    });

  leaves(node.command("drain <node>"), { event: "iam.node.change", loggedBy: "coordinator" })
    .description("place nothing new there; what runs there runs to its end")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const drained = await ask("node-drain", { id });
      if (json) return print(printedAnswer("node-drain", drained));
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
      await ask("node-undrain", { id });
      if (json) print(printedAnswer("node-undrain", { node: id }));
      else say(`${id} takes work again`);
    });

  leaves(node.command("upgrade [nodes...]"), {
    event: "iam.node.change",
    loggedBy: "coordinator",
  })
    .description(
      "have nodes bring the appliance's own release: one first, then a quarter of them at a time",
    )
    .option("--all", "every node", false)
    .option("--except <nodes...>", "with --all: nodes that stay as they are", [])
    .option("--wait <seconds>", "how long to wait for them", waitSeconds, UPGRADE_WAIT_S)
    .option("--json", "one JSON line", false)
    .action(
      async (
        named: string[],
        { json, ...options }: UpgradeNodesOptions & { json: boolean },
        command: Command,
      ) => {
        if (options.all === named.length > 0)
          return command.error("name nodes, or say --all", { exitCode: EXIT.usage });
        if (!options.all && options.except.length > 0)
          return command.error("--except goes with --all", { exitCode: EXIT.usage });
        const { config } = openContext();
        const tell = json ? () => undefined : say;
        const home = config.agent?.node ?? null;
        const upgraded = await upgradeNodes({ ask, tell, home }, named, options);
        if (json) print(upgraded);
        else for (const id of upgraded.current) say(`${id} had ${upgraded.release} before`);
        requireUpgraded(upgraded);
      },
    );

  leaves(node.command("remove <node>"), { event: "iam.node.change", loggedBy: "coordinator" })
    .description(
      "take the node out of the register: no new work, wait until it runs nothing, void its certificate",
    )
    .option(
      "--now",
      "end what runs there and let its jobs go on elsewhere, instead of waiting",
      false,
    )
    .option(
      "--force",
      "also a node that does not answer; its jobs went elsewhere when it fell silent",
      false,
    )
    .option("--wait <seconds>", "how long to wait for what runs there", waitSeconds, DEFAULT_WAIT_S)
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json, ...options }: RemoveOptions & { json: boolean }) => {
      const { config } = openContext();
      const tell = json ? () => undefined : say;
      const removed = await removeNode(
        { ask, tell, home: config.agent?.node ?? null },
        id,
        options,
      );
      if (json) return print(removed);
      say(`${id} is no node any more; its certificate is void`);
      say("on that host, as root: /opt/resontech-node/leave");
    });
}

/** What `--json` shows beside the rest. */
function releaseOf(facts: NodeReleaseFacts | null): Pick<NodeReleaseFacts, "release" | "upgrade"> {
  return { release: facts?.release ?? null, upgrade: facts?.upgrade ?? null };
}

function releaseCells(facts: NodeReleaseFacts | null): string[] {
  return facts === null ? ["-", ""] : [facts.release ?? "-", upgradeText(facts)];
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

function row(facts: NodeFacts): string[] {
  const { node, state, workers, busy, silentS, freeBytes } = facts;
  const why = whyNoWork(facts);
  return [
    ...[
      node,
      state,
      String(workers),
      String(busy),
      silentS === null ? "not heard" : `${formatSpan(silentS)} ago`,
    ],
    freeBytes === null ? "-" : `${formatSize(freeBytes)} free`,
    why === null ? "yes" : `no: ${why}`,
  ];
}
