/** `resontech jobs`: what runs, what waits and why, and what a job says. */
import type { JobRow } from "@resontech/contracts/http-jobs";
import { endWords } from "@resontech/contracts/end-words";
import { madeWayWords } from "@resontech/contracts/made-way-words";
import { modelWords } from "@resontech/contracts/model-words";
import { isTerminal } from "@resontech/contracts/job-states";
import { JOB_WORDS, MEMBER_WORDS } from "@resontech/contracts/state-words";
import { rankWords } from "@resontech/contracts/rank-words";
import { roundWords } from "@resontech/contracts/round-words";
import { EXIT } from "@resontech/contracts/exit-codes";
import type { Command } from "commander";
import { age } from "../age.ts";
import { getJson, sendJson } from "../api-client.ts";
import { askedStates, STATE_HELP } from "../asked-states.ts";
import { projectFilter, projectIdOf } from "../chosen-project.ts";
import { printable, printableLog } from "../printable.ts";
import { type Settings, settingsFrom } from "../settings.ts";
import { size, toldWithUnits } from "../size.ts";
import { classOption, NOT_PREEMPTIBLE, PREEMPTIBLE } from "./class-options.ts";
import { findJob } from "./find-job.ts";
import { comparisonRows, readComparison } from "./compare-jobs.ts";
import { isJobOver, printLogs } from "./follow-logs.ts";
import { wrapped } from "../wrapped.ts";
import { readJob, readJobs } from "./read-jobs.ts";
import { withOrder } from "./read-order.ts";
import { USE_HEAD, useRows } from "./use-rows.ts";
import { isVariation, type Variation, varyJob } from "./vary-job.ts";
import { watchJob } from "./watch-job.ts";

type Shell = {
  say: (text: string) => void;
  table: (head: string[], rows: string[][]) => void;
  /** @param count as it was written @throws InvalidArgumentError */
  countOf: (count: string) => number;
};

const HEAD = ["JOB", "NAME", "STATE", "ROUND", "AGE", "WHY"];
const HEAD_WIDE = ["ATTEMPT", "OWNER", "SUBMITTED"];
/** Columns that the words of `watch` and of `show` begin in: behind a time, behind a name. */
const TOLD_AT = 11;
const FACTS_AT = 12;

export function addJobCommands(program: Command, { say, table, countOf }: Shell): void {
  const settings = () => settingsFrom(process.env);
  /** `any` takes a limit of the earlier job away. */
  const orAny = (count: string) => (count === "any" ? null : countOf(count));
  const collect = (value: string, before: readonly string[]) => [...before, value];
  const out = (text: string) => process.stdout.write(text);
  const jobs = program
    .command("jobs")
    .description("jobs: list, show, watch, use, compare, logs, cancel, files, resubmit")
    .addHelpText(
      "after",
      "\nExamples:\n  resontech jobs ls --state waiting,running\n  resontech jobs watch job-7f3a\n  resontech jobs logs -f job-7f3a --of site-1\n  resontech jobs resubmit job-7f3a",
    );

  jobs
    .command("ls")
    .description("jobs that you may read, newest first")
    .option("--state <states>", STATE_HELP, askedStates)
    .addOption(projectFilter())
    .option("--text <text>", "part of a name, or of an id")
    .option("--limit <n>", "rows in all", countOf, 100)
    .option("--wide", "also the attempt, who submitted it, and when", false)
    .option("--json", "one JSON line for each job", false)
    .action(
      async ({
        limit,
        json,
        wide,
        project: named,
        ...filter
      }: {
        state?: string;
        project?: string;
        text?: string;
        limit: number;
        wide: boolean;
        json: boolean;
      }) => {
        const { jobs: found, areMore } = await readJobs(
          settings(),
          { ...filter, project: await projectIdOf(settings(), named) },
          limit,
        );
        const now = Date.now();
        if (json) for (const job of found) out(`${JSON.stringify(job)}\n`);
        else if (found.length > 0)
          table(
            wide ? [...HEAD, ...HEAD_WIDE] : HEAD,
            found.map((job) => [
              ...[job.id, job.name, JOB_WORDS[job.state], roundsOf(job)],
              ...[age(job.createdAt, now), toldWithUnits(job.waitingFor ?? job.reason ?? "")],
              ...(wide ? [String(job.attempt), job.owner, job.createdAt] : []),
            ]),
          );
        if (found.length === 0) say("no job matches");
        if (areMore) say("there are more: the same command with a larger --limit");
      },
    );

  jobs
    .command("show <job>")
    .description("one job with its members")
    .option("--json", "as the appliance says it", false)
    .action(async (named: string, { json }: { json: boolean }) => {
      const id = await findJob(settings(), named);
      const job = await readJob(settings(), id);
      if (json) return void out(`${JSON.stringify(job, null, 2)}\n`);
      const { detail } = job;
      const ranks = detail.kind === "distributed" ? await ranksOf(settings(), id) : null;
      const facts: [string, string | null][] = [
        ["job", job.jobId],
        ["name", job.jobName],
        ["state", `${JOB_WORDS[detail.state]} since ${detail.since}`],
        ["why", toldWithUnits(detail.waitingFor ?? "")],
        [
          "made way",
          // An appliance of an older release says nothing of it.
          job.madeWay == null ? null : madeWayWords(job.madeWay, detail.state === "PREEMPTING"),
        ],
        ["expected back", job.madeWay?.expectedStart ?? null],
        ["rounds", detail.rounds.current === null ? null : roundWords(detail.rounds)],
        ["attempt", String(detail.attempt)],
        ["ranks", ranks],
        [
          "class",
          detail.isPreemptible ? detail.jobClass : `${detail.jobClass}, makes way for nobody`,
        ],
        ["submitted", job.createdAt],
        ["started", job.startedAt],
        ["ended", job.endedAt],
        ["files", job.outputPath],
        ["model", detail.model === null ? null : modelWords(detail.model)],
        [
          "error",
          detail.error === null
            ? null
            : `${detail.error.code}: ${toldWithUnits(detail.error.message)}`,
        ],
        ["what to do", detail.error?.hint ?? null],
      ];
      for (const [name, value] of facts) if (value !== null && value !== "") out(fact(name, value));
      for (const warning of job.warnings) out(fact("warning", toldWithUnits(warning)));
      if (job.workers.length > 0) {
        out("\n");
        const ends = job.workers.map(endWords);
        const hasEnds = ends.some((end) => end !== null);
        table(
          ["MEMBER", "STATE", "NODE", "DEVICE", ...(hasEnds ? ["END"] : []), "ID"],
          job.workers.map(({ site, role, state, node, model, id: member }, at) => [
            ...[site ?? role, MEMBER_WORDS[state], node, model ?? ""],
            ...(hasEnds ? [ends[at] ?? ""] : []),
            member,
          ]),
        );
      }
      if (detail.error?.detail != null) out(`\n${printable(detail.error.detail)}\n`);
    });

  jobs
    .command("watch <job>")
    .description("what happens in a job, until it ends; exit code 3 when it did not succeed")
    .option("--json", "one JSON line for each change", false)
    .action(async (named: string, { json }: { json: boolean }) => {
      const id = await findJob(settings(), named);
      const last = await watchJob(settings(), id, {
        line: (text) => void out(`${wrapped(text, columns(), TOLD_AT)}\n`),
        json: json ? (message) => void out(`${JSON.stringify(message)}\n`) : null,
        say,
      });
      if (last !== "SUCCEEDED") process.exitCode = EXIT.notAsWanted;
      if (last !== "SUCCEEDED") say(`the job is ${last}: resontech jobs show ${id} says why`);
    });

  jobs
    .command("use <job>")
    .description("processors, memory, disk, network and devices that each member used")
    .option("--json", "curves of it, as the appliance says them", false)
    .action(async (named: string, { json }: { json: boolean }) => {
      const id = await findJob(settings(), named);
      const use = await getJson(settings(), "/api/jobs/{id}/use", { params: { id } });
      if (json) return void out(`${JSON.stringify(use)}\n`);
      const rows = useRows(use);
      if (rows.length > 0) table(USE_HEAD, rows);
      else say(`no member has told what it uses; figures are kept for ${use.keptDays} days`);
    });

  jobs
    .command("logs <job>")
    .description("what the members of a job printed; each reading is logged")
    .option("-f, --follow", "go on until the job ends", false)
    .option("--of <member>", "a site, a role or a member's id: server, site-1")
    .option("--tail <bytes>", "begin so many bytes before the stored end", countOf)
    .option("--json", "one JSON line for each piece, with who printed it", false)
    .action(
      async (
        named: string,
        { follow, of, tail, json }: { follow: boolean; of?: string; tail?: number; json: boolean },
      ) => {
        const id = await findJob(settings(), named);
        let last: string | null = null;
        await printLogs(
          ...([
            settings(),
            id,
            {
              ...{ of: of ?? null, tailBytes: tail ?? null, isFollowed: follow },
              isOver: () => isJobOver(settings(), id),
            },
          ] as const),
          (member, text) => {
            const name = of === undefined ? (member.site ?? member.role) : null;
            if (json) {
              const { member: memberId, role, site, attempt } = member;
              out(`${JSON.stringify({ member: memberId, role, site, attempt, text })}\n`);
              return;
            }
            if (name !== null && name !== last) out(`--- ${name} ---\n`);
            last = name;
            out(printableLog(text));
          },
          say,
        );
      },
    );

  jobs
    .command("cancel <job>")
    .description("ask a job to stop; logs, and the model of the last stored round, stay")
    .option("--json", "the appliance's answer", false)
    .action(async (named: string, { json }: { json: boolean }) => {
      const id = await findJob(settings(), named);
      const params = { id };
      const task = await sendJson(settings(), "POST", "/api/tasks/{id}/cancel", { params });
      if (json) out(`${JSON.stringify(task)}\n`);
      const { state } = task.detail;
      say(
        isTerminal(state)
          ? `${id} had ended before: ${JOB_WORDS[state]}`
          : `${id} was asked to stop: resontech jobs watch ${id} tells when it has`,
      );
    });

  jobs
    .command("resubmit <job>")
    .description(
      "the same job as a new one, of the very files that it was made of; refused where these are gone. What an option names is changed",
    )
    .option("--name <name>", "of the new job, which then has a folder of its own")
    .option("--gpu-models <ids>", "catalogue ids in order of preference, with commas; or any")
    .option("--max-price <cents>", "at most so much for an hour of a device, or any", orAny)
    .option("--memory <MiB>", "what a member needs of its device, or any", orAny)
    .option("--minutes <n>", "the job ends once it ran so long, or any", orAny)
    .option(
      "--file <path=file>",
      "another file in place of one that the job read; may stand several times",
      collect,
      [],
    )
    .option(
      "--add <path=file>",
      "a file that the job did not have; may stand several times",
      collect,
      [],
    )
    .option(
      "--remove <path>",
      "a file that the job read, and the new one does not; may stand several times",
      collect,
      [],
    )
    .option(
      "--after <job>",
      "hold it until this job has succeeded, or with JOB:ended until it has ended; may stand several times",
      withOrder,
      [],
    )
    .option("--pool <pool>", "let it start on nodes of this pool alone, by its name or id; or any")
    .addOption(classOption())
    .option(...PREEMPTIBLE)
    .option(...NOT_PREEMPTIBLE)
    .option(
      "--argument <argument>",
      "of a command, in place of all that it had; may stand several times",
      collect,
      [],
    )
    .option(
      "--env <name=value>",
      "of a command, in place of all that it had; may stand several times",
      collect,
      [],
    )
    .option("--json", "the appliance's answer", false)
    .addHelpText(
      "after",
      "\nExamples:\n  resontech jobs resubmit job-7f3a\n  resontech jobs resubmit job-7f3a --name 'digits 2' --file scripts/model_def.py=model_def.py --minutes 30\n  resontech jobs resubmit job-7f3a --add scripts/help.py=help.py --remove scripts/old.py",
    )
    .action(async (named: string, { json, ...variation }: Variation & { json: boolean }) => {
      const id = await findJob(settings(), named);
      const params = { id };
      const task = isVariation(variation)
        ? await varyJob(settings(), id, variation)
        : await sendJson(settings(), "POST", "/api/tasks/{id}/resubmit", { params });
      out(json ? `${JSON.stringify(task)}\n` : `${task.id}\n`);
      for (const warning of task.warnings) say(`warning: ${warning}`);
      say(`submitted ${task.name} once more: resontech jobs watch ${task.id}`);
    });

  jobs
    .command("compare <job...>")
    .description("what differs between jobs, and the metrics that each had last")
    .option("--all", "also what is the same", false)
    .option("--json", "one JSON line for each job, with its parameters and its curves", false)
    .action(async (named: string[], { all, json }: { all: boolean; json: boolean }) => {
      const ids = await Promise.all(named.map((one) => findJob(settings(), one)));
      const found = await readComparison(settings(), ids);
      if (json) for (const one of found) out(`${JSON.stringify(one)}\n`);
      else table(["OF", ...ids], comparisonRows(found, all));
    });

  jobs
    .command("files <job>")
    .description("what a job left")
    .option("--json", "one JSON line for each file", false)
    .action(async (named: string, { json }: { json: boolean }) => {
      const id = await findJob(settings(), named);
      const files = await getJson(settings(), "/api/tasks/{id}/outputs", { params: { id } });
      if (json) for (const file of files) out(`${JSON.stringify(file)}\n`);
      else if (files.length > 0)
        table(
          ["FILE", "SIZE", "STORED", "SHA-256"],
          files.map(({ key, sizeBytes, storedAt, sha256 }) => [
            ...[key, size(sizeBytes), storedAt, sha256],
          ]),
        );
      if (files.length === 0) say("the job has left nothing yet");
    });
}

function columns(): number | null {
  return process.stdout.isTTY ? process.stdout.columns : null;
}

function fact(name: string, value: string): string {
  return `${wrapped(`${name.padEnd(FACTS_AT - 1)} ${printable(value)}`, columns(), FACTS_AT)}\n`;
}

function roundsOf({ round, rounds, roundsDone }: JobRow): string {
  if (round === null) return "";
  return rounds === null ? String(roundsDone) : `${roundsDone}/${rounds}`;
}

/** How many start one script, and how they share the work: of a job that was chosen so. */
async function ranksOf(settings: Settings, id: string): Promise<string | null> {
  return rankWords(await getJson(settings, "/api/jobs/{id}/parameters", { params: { id } }));
}
