/** `appliance maintenance …` and `appliance reservations …`: when nodes are for nobody, or for one project alone. */
import type { CalendarEntryReply } from "@resontech/contracts/http-pools";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { commaList } from "./decisions/comma-list.ts";

type Kind = CalendarEntryReply["kind"];
type Place = { nodes?: string[]; pool?: string };
type Times = { from?: string; until?: string; reason?: string };

const CHANGE = { event: "admin.calendar", loggedBy: "coordinator" } as const;

export function addCalendarCommands(program: Command, shell: OperatorShell): void {
  addKind(program, shell, {
    ...{ kind: "maintenance", name: "maintenance", none: "no maintenance is announced" },
    about: "maintenance of nodes: nothing starts that would run into it, and what runs is told",
    example:
      "add --nodes node-a,node-b --from 2026-12-05T18:00Z --until 2026-12-05T22:00Z --reason 'new firmware'",
  });
  addKind(program, shell, {
    ...{ kind: "reservation", name: "reservations", none: "nothing is reserved" },
    about: "nodes that are reserved for a project for some time",
    example: "add p_4f… --pool big --from 2026-12-05T18:00Z --until 2026-12-07T06:00Z",
  });
}

function addKind(
  program: Command,
  { ask, print, table, say }: OperatorShell,
  {
    kind,
    name,
    about,
    example,
    none,
  }: Record<"name" | "about" | "example" | "none", string> & { kind: Kind },
): void {
  const group = program
    .command(name)
    .description(about)
    .addHelpText("after", `\nExamples:\n  appliance ${name} ls\n  appliance ${name} ${example}`);
  const told = (
    verb: "calendar-add" | "calendar-set",
    json: boolean,
    entry: CalendarEntryReply,
  ) => {
    if (json) return print(printedAnswer(verb, entry));
    const { id, from, until, affected } = entry;
    say(`${id}: from ${from} until ${until}${runsInto(affected)}`);
  };

  leaves(group.command("ls"), { none: "status" })
    .description("what is not over, the first first")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const entries = (await ask("calendar-list")).entries.filter((entry) => entry.kind === kind);
      if (json) print(printedAnswer("calendar-list", { entries }));
      else if (kind === "maintenance")
        table(
          ["ENTRY", "FROM", "UNTIL", "OF", "REASON", "JOBS"],
          entries.map(maintenanceRow),
          none,
        );
      else
        table(
          ["ENTRY", "PROJECT", "FROM", "UNTIL", "OF", "REASON"],
          entries.map(reservationRow),
          none,
        );
    });

  const add = async ({
    json,
    ...asked
  }: { json: boolean } & Place & Times & { project?: string }) => {
    const { from = new Date().toISOString(), until = "" } = asked;
    told("calendar-add", json, await ask("calendar-add", { ...asked, from, until }));
  };
  const adding = leaves(group.command(kind === "maintenance" ? "add" : "add <project>"), CHANGE)
    .description(
      kind === "maintenance"
        ? "announce maintenance of a pool, or of nodes"
        : "reserve a pool, or nodes, for a project",
    )
    .option("--nodes <ids>", "as `node-a,node-b`", commaList)
    .option("--pool <pool>", "all nodes of a pool, by its name or id")
    .option("--from <time>", "as `2026-12-05T18:00Z`; now, if left out")
    .requiredOption("--until <time>", "as `2026-12-05T22:00Z`")
    .option("--reason <text>", "told to whoever sees it")
    .option("--json", "one JSON line", false);
  if (kind === "maintenance") adding.action(add);
  else
    adding.action((project: string, options: Parameters<typeof add>[0]) =>
      add({ ...options, project }),
    );

  leaves(group.command("set <entry>"), CHANGE)
    .description("move it, or say another reason; what is left out stays")
    .option("--from <time>", "as `2026-12-05T18:00Z`")
    .option("--until <time>", "as `2026-12-05T22:00Z`")
    .option("--reason <text>", "told to whoever sees it")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json, ...change }: { json: boolean } & Times) =>
      told("calendar-set", json, await ask("calendar-set", { id, ...change })),
    );

  leaves(group.command("rm <entry>"), CHANGE)
    .description("call it off, or end it now")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const removed = await ask("calendar-remove", { id });
      if (json) print(printedAnswer("calendar-remove", removed));
      else say(`${id} is called off`);
    });
}

function runsInto(affected: number | null): string {
  if (affected === null || affected === 0) return "; no running job runs into it";
  return `; ${affected === 1 ? "1 job that runs may" : `${affected} jobs that run may`} run into it`;
}

function placeOf({ pool, nodes }: CalendarEntryReply): string {
  return pool === null ? nodes.join(", ") : `pool ${pool.name}: ${nodes.join(", ")}`;
}

function maintenanceRow(entry: CalendarEntryReply): string[] {
  const { id, from, until, reason, affected } = entry;
  return [id, from, until, placeOf(entry), reason ?? "-", String(affected ?? "-")];
}

function reservationRow(entry: CalendarEntryReply): string[] {
  const { id, project, from, until, reason } = entry;
  return [id, project?.id ?? "-", from, until, placeOf(entry), reason ?? "-"];
}
