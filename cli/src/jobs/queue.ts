/** `resontech queue`: what waits, in its order, for what, and until when. */
import type { JobRow } from "@resontech/contracts/http-jobs";
import type { Command } from "commander";
import { getJson } from "../api-client.ts";
import { age } from "../age.ts";
import { projectFilter, projectIdOf } from "../chosen-project.ts";
import { printable } from "../printable.ts";
import { settingsFrom } from "../settings.ts";
import { toldWithUnits } from "../size.ts";
import { wrapped } from "../wrapped.ts";
import { findJob } from "./find-job.ts";
import { HOLDER_HEAD, holderRows, placementFacts } from "./placement-facts.ts";
import { readJobs } from "./read-jobs.ts";
import { startErrorsWords, startWords } from "./start-words.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
};

/** Longer than any queue that a person reads. */
const MOST = 10_000;
/** Column that what is said of one job begins in. */
const FACTS_AT = 12;

/** @property place from 1, of those that the caller may read; null for one that is held: it is in no line */
export type Waiting = { place: number | null; job: JobRow };

export function addQueueCommand(program: Command, { say, table }: Shell): void {
  program
    .command("queue [job]")
    .description(
      "jobs that wait, the first in line first, what each waits for, and when it is expected to start; of one job all of it",
    )
    .addOption(projectFilter())
    .option("--json", "one JSON line for each job, with its place", false)
    .addHelpText(
      "after",
      "\nPlaces count the jobs that you may read. The appliance starts what fits, so a small job may start before a large one.\nA start is expected by the time limits that jobs state; who ends early lets others start early.\n\nExamples:\n  resontech queue\n  resontech queue job-7f3a\n  resontech queue --json",
    )
    .action(async (one: string | undefined, options: { project?: string; json: boolean }) => {
      const { project: named, json } = options;
      const settings = settingsFrom(process.env);
      if (one !== undefined) return await showOne(one, json);
      const project = await projectIdOf(settings, named);
      const { jobs } = await readJobs(settings, { state: "QUEUED,HELD", project }, MOST);
      const query = project === undefined ? {} : { project };
      const { jobs: queued, startErrors } = await getJson(settings, "/api/queue", { query });
      const starts = new Map(queued.map((job) => [job.id, job]));
      const waiting = inLine(jobs, (id) => starts.get(id)?.line ?? Infinity);
      if (json)
        for (const { place, job } of waiting) {
          const { expectedStart = null, expectedRange, noStart = null } = starts.get(job.id) ?? {};
          const line = { place, ...job, expectedStart, expectedRange, noStart };
          process.stdout.write(`${JSON.stringify(line)}\n`);
        }
      else if (waiting.length > 0)
        table(
          ["PLACE", "JOB", "NAME", "CLASS", "WAITS", "STARTS", "FOR"],
          waiting.map(({ place, job }) => [
            ...[place === null ? "held" : String(place), job.id, job.name, job.jobClass],
            ...[age(job.since, Date.now()), startWords(starts.get(job.id), Date.now())],
            ...[toldWithUnits(job.waitingFor ?? job.reason ?? "")],
          ]),
        );
      if (waiting.length === 0) say("no job waits");
      const trust = startErrorsWords(startErrors);
      if (!json && trust !== null && waiting.length > 0) say(trust);
    });

  async function showOne(named: string, json: boolean): Promise<void> {
    const settings = settingsFrom(process.env);
    const id = await findJob(settings, named);
    const path = "/api/jobs/{id}/placement";
    const placement = await getJson(settings, path, { params: { id } });
    if (json) return void process.stdout.write(`${JSON.stringify(placement)}\n`);
    const now = Date.now();
    const columns = process.stdout.isTTY ? process.stdout.columns : null;
    for (const [name, text] of placementFacts(placement, now))
      process.stdout.write(
        `${wrapped(`${name.padEnd(FACTS_AT - 1)} ${printable(text)}`, columns, FACTS_AT)}\n`,
      );
    const holders = placement.wait?.holders ?? [];
    if (holders.length === 0) return;
    process.stdout.write("\n");
    table(HOLDER_HEAD, holderRows(holders, now));
  }
}

/** What is held stands behind. @param jobs newest first @param lineOf who has the smaller one became ready first */
export function inLine(jobs: readonly JobRow[], lineOf: (job: string) => number): Waiting[] {
  const oldestFirst = jobs.toReversed();
  const held = oldestFirst.filter(({ state }) => state === "HELD");
  const queued = oldestFirst
    .filter(({ state }) => state !== "HELD")
    .map((job) => ({ job, line: lineOf(job.id) }))
    .toSorted((a, b) => (a.line === b.line ? 0 : a.line - b.line));
  return [
    ...queued.map(({ job }, at) => ({ place: at + 1, job })),
    ...held.map((job) => ({ place: null, job })),
  ];
}
