/** `appliance pools …`: whose nodes are, and by which rules. */
import type { PoolBody, PoolChangeBody, PoolReply } from "@resontech/contracts/http-pools";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { commaList } from "./decisions/comma-list.ts";
import { formatSize, parseSize } from "../status/decisions/quantities.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";

const HEAD = [
  "POOL",
  "KIND",
  "PROJECT",
  "LENDS",
  "AT MOST",
  "CLASSES",
  "OF A PROJECT",
  "CACHE",
  "NODES",
];
const CHANGE = { event: "admin.pools", loggedBy: "coordinator" } as const;

/** An option can't be null: commander makes an empty text of it. */
type Rules = {
  lend?: boolean;
  atMost?: number | "none";
  classes?: NonNullable<PoolBody["classes"]> | "none";
  projectWorkers?: number | "none";
  workers?: string[] | "none";
  cache?: number | "none";
};

export function addPoolCommands(program: Command, { ask, print, table, say }: OperatorShell): void {
  const pools = program
    .command("pools")
    .description("pools of nodes: everybody's, or one project's, each with its rules")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance pools ls\n  appliance pools add cardio --kind managed --project p_4f… --nodes node-a,node-b --lend\n  appliance pools set cardio --add-nodes node-c --at-most 600",
    );
  const told = (verb: "pool-add" | "pool-set", json: boolean, pool: PoolReply) => {
    if (json) print(printedAnswer(verb, pool));
    else
      say(
        `${pool.name}: ${pool.kind}, ${pool.nodes.length === 0 ? "no node" : pool.nodes.join(", ")}`,
      );
    tell(pool);
  };
  /** Beside the answer, where a program does not read it. */
  const tell = ({ name, unlike, warnings, workerModels }: PoolReply) => {
    for (const { node, shows } of unlike)
      say(
        `warning: ${name}: ${node} shows ${shows.length === 0 ? "no worker" : shows.join(", ")}; the pool expects ${workerModels?.join(", ")}`,
      );
    for (const warning of warnings) say(`warning: ${name}: ${warning}`);
  };

  leaves(pools.command("ls"), { none: "status" })
    .description("each with its rules and its nodes")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const answer = await ask("pool-list");
      if (json) print(printedAnswer("pool-list", answer));
      else table(HEAD, answer.pools.map(row), "no pool: every node is everybody's");
      for (const pool of answer.pools) tell(pool);
    });

  withRules(leaves(pools.command("add <name>"), CHANGE))
    .description("make a pool; a node is in one at most")
    .requiredOption(
      "--kind <kind>",
      "`shared`: everybody's; `managed`: one project's, which may lend; `private`: one project's alone",
      kindOf,
    )
    .option("--project <id>", "whose it is, of a managed or private one")
    .option("--nodes <ids>", "its nodes, as `node-a,node-b`", commaList)
    .option("--json", "one JSON line", false)
    .action(
      async (
        name: string,
        {
          json,
          kind,
          project,
          nodes,
          ...rules
        }: { json: boolean } & Pick<PoolBody, "kind" | "project" | "nodes"> & Rules,
      ) =>
        told(
          "pool-add",
          json,
          await ask("pool-add", {
            ...{ name, kind },
            ...(project === undefined ? {} : { project }),
            ...(nodes === undefined ? {} : { nodes }),
            ...rulesOf(rules),
          }),
        ),
    );

  withRules(leaves(pools.command("set <pool>"), CHANGE))
    .description("change the rules of a pool, by its name or id, or which nodes are in it")
    .option("--no-lend", "what is idle is lent no more")
    .option("--add-nodes <ids>", "as `node-a,node-b`", commaList)
    .option("--remove-nodes <ids>", "they are everybody's from then", commaList)
    .option("--json", "one JSON line", false)
    .action(
      async (
        id: string,
        {
          json,
          addNodes,
          removeNodes,
          ...rules
        }: { json: boolean } & Pick<PoolChangeBody, "addNodes" | "removeNodes"> & Rules,
      ) =>
        told(
          "pool-set",
          json,
          await ask("pool-set", {
            id,
            ...(addNodes === undefined ? {} : { addNodes }),
            ...(removeNodes === undefined ? {} : { removeNodes }),
            ...rulesOf(rules),
          }),
        ),
    );

  leaves(pools.command("rm <pool>"), CHANGE)
    .description("remove a pool; its nodes are everybody's from then")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const removed = await ask("pool-remove", { id });
      if (json) print(printedAnswer("pool-remove", removed));
      else say(`${id} is removed`);
    });
}

function withRules(command: Command): Command {
  return command
    .option(
      "--lend",
      "of a managed pool: others use what is idle, and make way when its project asks",
    )
    .option(
      "--at-most <minutes>",
      "jobs with a longer time limit, or none, don't start there; `none` lifts it",
      minutesOf,
    )
    .option(
      "--classes <classes>",
      "only jobs of these, as `train,interactive`; `none` lifts it",
      classesOf,
    )
    .option(
      "--project-workers <count>",
      "one project holds at most so many workers there; `none` lifts it",
      countOrNone,
    )
    .option(
      "--workers <models>",
      "what its workers are to be, as `h100,a100_80gb-mig-1g.10gb`; `none` expects nothing",
      (text: string) => (text === "none" ? text : commaList(text)),
    )
    .option(
      "--cache <size>",
      "each node keeps so much of inputs between jobs of the pool's project, as `200GB`; `none` keeps nothing",
      (text: string) => (text === "none" ? text : bytesOf(text)),
    );
}

function rulesOf({
  lend,
  atMost,
  classes,
  projectWorkers,
  workers,
  cache,
}: Rules): Omit<PoolChangeBody, "addNodes" | "removeNodes"> {
  return {
    ...(projectWorkers === undefined
      ? {}
      : { projectWorkers: projectWorkers === "none" ? null : projectWorkers }),
    ...(workers === undefined ? {} : { workerModels: workers === "none" ? null : workers }),
    ...(cache === undefined ? {} : { cacheBytes: cache === "none" ? null : cache }),
    ...(lend === undefined ? {} : { lends: lend }),
    ...(atMost === undefined ? {} : { mostRunMinutes: atMost === "none" ? null : atMost }),
    ...(classes === undefined ? {} : { classes: classes === "none" ? null : classes }),
  };
}

function row(pool: PoolReply): string[] {
  const { name, kind, project, lends, mostRunMinutes, classes, projectWorkers, nodes } = pool;
  return [
    ...[name, kind, project?.id ?? "-", lends ? "yes" : "no"],
    ...[mostRunMinutes === null ? "-" : `${mostRunMinutes} min`, classes?.join(", ") ?? "all"],
    projectWorkers === null ? "-" : `${projectWorkers} at most`,
    cacheOf(pool),
    nodes.length === 0 ? "-" : nodes.join(", "),
  ];
}

function kindOf(text: string): PoolBody["kind"] {
  if (text === "shared" || text === "managed" || text === "private") return text;
  throw new InvalidArgumentError("Write `shared`, `managed` or `private`.");
}

function minutesOf(text: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write whole minutes, or `none`.");
}

function countOrNone(text: string): number | "none" {
  if (text === "none") return text;
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Write a whole number above 0, or `none`.");
}

function bytesOf(text: string): number {
  const bytes = parseSize(text);
  if (bytes === null) throw new InvalidArgumentError("Write a size as `200GB`, or `none`.");
  return bytes;
}

/** What its nodes keep now, and how much each may. */
function cacheOf({ cacheBytes, kept }: PoolReply): string {
  if (cacheBytes === null) return "-";
  const inUse = kept.map(({ node, bytes }) => `${node} ${formatSize(bytes)}`);
  return [`${formatSize(cacheBytes)} each`, ...inUse].join(", ");
}

function classesOf(text: string): NonNullable<PoolBody["classes"]> | "none" {
  // Which classes there are the coordinator knows.
  return text === "none" ? text : (commaList(text) as NonNullable<PoolBody["classes"]>);
}
