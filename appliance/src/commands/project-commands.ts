/** `appliance project …`: what people work in together. Who is a member is the lead's to say, over the API. */
import type { ProjectFacts } from "@resontech/contracts/operator-projects";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { formatInstant, formatSize } from "../status/decisions/quantities.ts";

const HEAD = ["PROJECT", "NAME", "TEAM", "LEADS", "MEMBERS", "BUCKET", "QUOTA", "SINCE"];

export function addProjectCommands(
  program: Command,
  { ask, print, table, say }: OperatorShell,
): void {
  const project = program
    .command("project")
    .description("projects: list, add, remove-member; their leads say who is a member")
    .addHelpText(
      "after",
      '\nExamples:\n  appliance project add "lung screening" --team radiology --lead anna\n  appliance project ls',
    );

  leaves(project.command("ls"), { event: "admin.control", loggedBy: "coordinator" })
    .description(
      "every project with team, leads, members and bucket; that a person looked is on record",
    )
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { projects } = await ask("project-list");
      if (json) print(projects);
      else table(HEAD, projects.map(row), "no project: make one with `appliance project add NAME`");
    });

  leaves(project.command("remove-member <project> <username>"), {
    event: "iam.project.member",
    loggedBy: "coordinator",
  })
    .description(
      "take somebody out of a project; keys and key pair of it are refused at once, and its jobs go on",
    )
    .addHelpText("after", "\nExample:\n  appliance project remove-member p_4f… anna")
    .action(async (id: string, username: string) => {
      await ask("member-remove", { username, project: id });
      say(`${username} is no member of ${id} any more`);
    });

  leaves(project.command("add <name>"), { event: "iam.project.create", loggedBy: "coordinator" })
    .description("make a project with a bucket; the bucket's first key pair comes by the API")
    .requiredOption("--lead <user>", "who says who else is a member")
    .option("--team <team>", "made where it is not there; `research` where none is named")
    .option("--json", "one JSON line", false)
    .action(
      async (
        name: string,
        { lead, team, json }: { lead: string; team?: string; json: boolean },
      ) => {
        const wish = { name, lead, ...(team === undefined ? {} : { team }) };
        const { id: project, team: ofTeam } = await ask("project-add", wish);
        if (json) print(printedAnswer("project-add", { project, name, team: ofTeam, lead }));
        else say(`${project}: ${name} of ${ofTeam}, led by ${lead}`);
      },
    );
}

function row(facts: ProjectFacts): string[] {
  return [
    ...[facts.project, facts.name, facts.team ?? "-", facts.leads.join(", ")],
    ...[String(facts.members), facts.bucket, formatSize(facts.quotaBytes)],
    formatInstant(facts.createdAt),
  ];
}
