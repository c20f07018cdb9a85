/** `resontech projects`: what one works in, and with whom. */
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { settingsFrom } from "../settings.ts";
import { asTable } from "../table.ts";

/** @param say to the person, beside what a script reads */
export function addProjectCommands(program: Command, say: (text: string) => void): void {
  const projects = program.command("projects").description("the projects that you are a member of");

  projects
    .command("ls")
    .description("your projects, with your role in each")
    .option("--json", "one JSON line for each project", false)
    .action(async ({ json }: { json: boolean }) => {
      const settings = settingsFrom(process.env);
      const found = await getJson(settings, "/api/projects");
      const me = await getJson(settings, "/api/me");
      const roles = new Map(me.projects.map(({ id, role }) => [id, role]));
      const rows = found.map((project) => ({ ...project, role: roles.get(project.id) ?? null }));
      if (json) for (const row of rows) process.stdout.write(`${JSON.stringify(row)}\n`);
      else
        show(
          ["id", "name", "team", "role"],
          rows.map(({ id, name, team, role }) => [id, name, team ?? "-", role ?? "-"]),
        );
      if (rows.length === 0) say("you are a member of no project");
    });

  projects
    .command("members <project>")
    .description("who is what in a project; that you looked is on record")
    .option("--json", "one JSON line for each member", false)
    .addHelpText("after", "\nExample:\n  resontech projects members p_1c27…")
    .action(async (project: string, { json }: { json: boolean }) => {
      const params = { id: project };
      const settings = settingsFrom(process.env);
      const members = await getJson(settings, "/api/projects/{id}/members", { params });
      if (json) for (const one of members) process.stdout.write(`${JSON.stringify(one)}\n`);
      else
        show(
          ["user", "name", "role", "since"],
          members.map(({ userId, username, role, since }) => [userId, username, role, since]),
        );
    });
}

function show(head: string[], rows: string[][]): void {
  if (rows.length > 0)
    process.stdout.write(asTable(head, rows, process.stdout.isTTY ? process.stdout.columns : null));
}
