/** `resontech queue`: what waits, in its order, and for what. */
import type { JobRow } from "@resontech/contracts/http-jobs";
import type { Command } from "commander";
import { age } from "../age.ts";
import { projectFilter, projectIdOf } from "../chosen-project.ts";
import { settingsFrom } from "../settings.ts";
import { toldWithUnits } from "../size.ts";
import { readJobs } from "./read-jobs.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

/** Longer than any queue that a person reads. */
const MOST = 10_000;

/** @property place from 1, of those that the caller may read; null for one that is held: it is in no line */
export type Waiting = { place: number | null; job: JobRow };

export function addQueueCommand(program: Command, { say, table }: Shell): void {
  program
    .command("queue")
    .description("jobs that wait, the first in line first, and what each waits for")
    .addOption(projectFilter())
    .option("--json", "one JSON line for each job, with its place", false)
    .addHelpText(
      "after",
      "\nPlaces count the jobs that you may read. The appliance starts what fits, so a small job may start before a large one.\n\nExamples:\n  resontech queue\n  resontech queue --json",
    )
    .action(async ({ project: named, json }: { project?: string; json: boolean }) => {
      const settings = settingsFrom(process.env);
      const project = await projectIdOf(settings, named);
      const { jobs } = await readJobs(settings, { state: "QUEUED,HELD", project }, MOST);
      const waiting = inLine(jobs);
      if (json)
        for (const { place, job } of waiting)
          process.stdout.write(`${JSON.stringify({ place, ...job })}\n`);
      else if (waiting.length > 0)
        table(
          ["PLACE", "JOB", "NAME", "WAITS", "FOR"],
          waiting.map(({ place, job }) => [
            ...[place === null ? "held" : String(place), job.id, job.name],
            ...[age(job.since, Date.now()), toldWithUnits(job.waitingFor ?? job.reason ?? "")],
          ]),
        );
      if (waiting.length === 0) say("no job waits");
    });
}

/** The first that was submitted is the first in line; what is held stands behind. @param jobs newest first */
export function inLine(jobs: readonly JobRow[]): Waiting[] {
  const oldestFirst = jobs.toReversed();
  const held = oldestFirst.filter(({ state }) => state === "HELD");
  const queued = oldestFirst.filter(({ state }) => state !== "HELD");
  return [
    ...queued.map((job, at) => ({ place: at + 1, job })),
    ...held.map((job) => ({ place: null, job })),
  ];
}
