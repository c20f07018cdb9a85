/** `appliance identity map | unmap | groups`: which groups of a connected directory give which roles. */
import { type GroupFacts, MAPPED_ROLES } from "@resontech/contracts/operator-projects";
import { type Command, Option } from "commander";
import { leaves } from "../audit/command-audit.ts";
import type { OperatorShell } from "./ask-operator.ts";

const HEAD = ["GROUP", "ROLE", "PROJECT"];
type Role = (typeof MAPPED_ROLES)[number];

export function addGroupCommands(
  identity: Command,
  { ask, print, table, say }: OperatorShell,
): void {
  leaves(identity.command("map <group>"), { event: "iam.group.map", loggedBy: "coordinator" })
    .description(
      "give whoever is in a group, like corp/doctors, a role in a project; a role of the whole appliance is asked for and not given",
    )
    .addOption(
      new Option("--role <role>", "of the group's people")
        .choices([...MAPPED_ROLES])
        .makeOptionMandatory(),
    )
    .option("--project <id>", "in which the role is given")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance identity map corp/doctors --project p_4f… --role researcher\n  appliance identity map corp/it --role platform-admin",
    )
    .action(async (group: string, { role, project }: { role: Role; project?: string }) => {
      const mapped = await ask("group-map", { group, role, project: project ?? null });
      say(
        project === undefined
          ? `whoever is in ${mapped.group} will stand as a request for ${mapped.role}`
          : `whoever is in ${mapped.group} is ${mapped.role} there, from within two minutes on`,
      );
    });

  leaves(identity.command("unmap <group>"), { event: "iam.group.map", loggedBy: "coordinator" })
    .description("take what a group gives: in one project, or everything")
    .option("--project <id>", "in this project alone")
    .action(async (group: string, { project }: { project?: string }) => {
      const { taken } = await ask("group-unmap", {
        group,
        ...(project === undefined ? {} : { project }),
      });
      say(`${group} gives ${taken} roles less`);
    });

  leaves(identity.command("groups"), { none: "reads settings, and nothing of people" })
    .description("which groups give which roles")
    .option("--json", "one JSON line", false)
    .action(async ({ json }: { json: boolean }) => {
      const { groups } = await ask("group-list");
      if (json) print({ groups });
      else table(HEAD, groups.map(row), "no group gives a role: appliance identity map --help");
    });
}

function row({ group, role, project }: GroupFacts): string[] {
  return [group, role, project ?? "asked for"];
}
