/** `resontech schedules`: jobs that repeat by a calendar. */
import { readFileSync } from "node:fs";
import type { Schedule } from "@resontech/contracts/http-schedules";
import { PAUSE_WORDS, runWords } from "@resontech/contracts/schedule-words";
import type { SubmitTaskBody } from "@resontech/contracts/http-tasks";
import type { Command } from "commander";
import { getJson, sendJson } from "../api-client.ts";
import { projectFilter, projectIdOf, projectOption, settingsInProject } from "../chosen-project.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { findJob } from "../jobs/find-job.ts";
import { settingsFrom } from "../settings.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};
type AddOptions = {
  cron: string;
  zone: string;
  job?: string;
  task?: string;
  name?: string;
  project?: string;
  json: boolean;
};

export function addScheduleCommands(program: Command, { say, table }: Shell): void {
  const schedules = program.command("schedules").description("jobs that repeat by a calendar");

  schedules
    .command("ls")
    .description("schedules with their next run and their last one")
    .addOption(projectFilter())
    .option("--json", "one JSON line for each schedule", false)
    .action(async ({ project: named, json }: { project?: string; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const project = await projectIdOf(settings, named);
      const query = project === undefined ? {} : { project };
      const { schedules: found } = await getJson(settings, "/api/schedules", { query });
      if (json) for (const one of found) process.stdout.write(`${JSON.stringify(one)}\n`);
      else if (found.length > 0)
        table(
          ["ID", "NAME", "CALENDAR", "NEXT", "LAST", "OWNER"],
          found.map((one) => [
            ...[one.id, one.name, `${one.cron} ${one.timeZone}`],
            ...[nextWords(one), one.lastRun === null ? "" : runWords(one.lastRun), one.owner],
          ]),
        );
      if (found.length === 0) say("no schedule");
    });

  schedules
    .command("add")
    .description("let a job repeat: of the versions that an earlier job read, or by a task's body")
    .requiredOption(
      "--cron <fields>",
      "minute, hour, day of the month, month, day of the week: 0 3 * * 1-5",
    )
    .requiredOption("--zone <name>", "whose clocks count: Europe/Berlin, UTC")
    .option("--job <job>", "repeat this job, of the very versions that it read")
    .option(
      "--task <file>",
      "submit this body of POST /api/tasks, JSON, of the files that lie there then",
    )
    .option("--name <name>", "what the schedule is called; the job's name where none is given")
    .addOption(projectOption())
    .option("--json", "the appliance's answer", false)
    .addHelpText(
      "after",
      '\nA run that would begin while the one before lives is skipped.\n\nExamples:\n  resontech schedules add --cron "0 3 * * 1-5" --zone Europe/Berlin --job job-4f21\n  resontech schedules add --cron "0 0 1 * *" --zone UTC --task monthly.json',
    )
    .action(async ({ cron, zone: timeZone, name, ...options }: AddOptions) => {
      const settings = await settingsInProject(process.env, options.project);
      if ((options.job === undefined) === (options.task === undefined))
        throw new UsageError(
          "schedule_of_one",
          "a schedule repeats one thing",
          "Say --job JOB or --task FILE.",
        );
      const what =
        options.job === undefined
          ? { task: readTask(options.task!) }
          : { job: await findJob(settings, options.job) };
      const body = { cron, timeZone, ...(name === undefined ? {} : { name }), ...what };
      const made = await sendJson(settings, "POST", "/api/schedules", { body });
      process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${made.id}\n`);
      say(`${made.name} runs next ${nextWords(made)}`);
    });

  for (const [verb, isPaused, words] of [
    ["pause", true, "makes no job until it is resumed"],
    ["resume", false, "goes on from now; what was missed meanwhile is not made up"],
  ] as const)
    schedules
      .command(`${verb} <id>`)
      .description(`the schedule ${words}`)
      .action(async (id: string) => {
        const asked = { params: { id }, body: { isPaused } };
        const settings = settingsFrom(process.env);
        const changed = await sendJson(settings, "PUT", "/api/schedules/{id}", asked);
        say(`${changed.name}: next ${nextWords(changed)}`);
      });

  schedules
    .command("rm <id>")
    .description("remove a schedule; jobs that it made stay")
    .action(async (id: string) => {
      const settings = settingsFrom(process.env);
      await sendJson(settings, "DELETE", "/api/schedules/{id}", { params: { id } });
      say(`removed ${id}`);
    });

  schedules
    .command("runs <id>")
    .description("runs of a schedule, the newest first: their jobs, and why others made none")
    .option("--json", "one JSON line for each run", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const { runs } = await getJson(settingsFrom(process.env), "/api/schedules/{id}/runs", {
        params: { id },
      });
      if (json) for (const run of runs) process.stdout.write(`${JSON.stringify(run)}\n`);
      else if (runs.length > 0)
        table(
          ["DUE", "RUN", "JOB"],
          runs.map((run) => [run.dueAt, runWords(run), run.job ?? ""]),
        );
      if (runs.length === 0) say("no run yet");
    });
}

function nextWords({ nextAt, pausedBy }: Pick<Schedule, "nextAt" | "pausedBy">): string {
  return pausedBy === null ? (nextAt ?? "") : PAUSE_WORDS[pausedBy];
}

/** @throws CliError where the file holds no JSON */
function readTask(file: string): SubmitTaskBody {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as SubmitTaskBody;
  } catch (error) {
    throw new CliError(
      "task_invalid",
      `${file} holds no JSON: ${error instanceof Error ? error.message : String(error)}`,
      "Write the body of POST /api/tasks into the file.",
    );
  }
}
