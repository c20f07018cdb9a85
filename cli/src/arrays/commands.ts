/** `resontech arrays`: one task at many points, and what came of each. */
import type { ArrayReply } from "@resontech/contracts/http-arrays";
import type { Command } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { projectFilter, projectIdOf } from "../chosen-project.ts";
import { settingsFrom } from "../settings.ts";
import { countWords, pointTable } from "./point-table.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

export function addArrayCommands(program: Command, { say, table }: Shell): void {
  const arrays = program
    .command("arrays")
    .description("one task as many jobs: resontech submit --array or --grid makes them")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech submit fit.py --array 0-99%8\n  resontech submit fit.py --grid lr=0.1,0.01 --grid depth=2,4\n  resontech arrays show a_4f21\n  resontech arrays show a_4f21 --by loss",
    );

  arrays
    .command("ls")
    .description("arrays, the newest first, with how many of their jobs wait, run and have ended")
    .addOption(projectFilter())
    .option("--json", "one JSON line for each array", false)
    .action(async ({ project: named, json }: { project?: string; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const project = await projectIdOf(settings, named);
      const query = project === undefined ? {} : { project };
      const { arrays: found } = await getJson(settings, "/api/arrays", { query });
      if (json) for (const one of found) process.stdout.write(`${JSON.stringify(one)}\n`);
      else if (found.length > 0)
        table(
          ["ID", "NAME", "JOBS", "STAND", "OWNER"],
          found.map((one) => [one.id, one.name, String(one.points), countWords(one), one.owner]),
        );
      if (found.length === 0) say("no array");
    });

  arrays
    .command("show <id>")
    .description("each job with its parameters, its state and the metrics that it printed last")
    .option("--by <metric>", "order the jobs by this metric, the least first")
    .option("--json", "the appliance's answer", false)
    .action(async (id: string, { by, json }: { by?: string; json: boolean }) => {
      const found = await readArray(id);
      if (json) return void process.stdout.write(`${JSON.stringify(found)}\n`);
      const { head, rows } = pointTable(found, by ?? null);
      table(head, rows);
      say(`${found.name}: ${countWords(found)}`);
    });

  arrays
    .command("cancel <id>")
    .description("ask all jobs of an array to stop")
    .action(async (id: string) => {
      const { name } = await readArray(id);
      const settings = settingsFrom(process.env);
      const params = { id };
      const { stopping } = await sendJson(settings, "POST", "/api/arrays/{id}/cancel", { params });
      say(`${name}: ${stopping} ${stopping === 1 ? "job was" : "jobs were"} asked to stop`);
    });
}

async function readArray(id: string): Promise<ArrayReply> {
  return await getJson(settingsFrom(process.env), "/api/arrays/{id}", { params: { id } });
}
