/** `appliance job …`: states of jobs, and how the operator stops one. Names, paths, logs and values of a job are its owner's alone. */
import type { JobFacts } from "@resontech/contracts/operator-jobs";
import type { Command } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { formatFromNow } from "../status/decisions/quantities.ts";

const HEAD = ["JOB", "KIND", "USER", "STATE", "SINCE", "ATTEMPT", "ROUND", "WHY"];
const LIMIT = 100;

export function addJobCommands(program: Command, { ask, print, table, say }: OperatorShell): void {
  const job = program
    .command("job")
    .description("jobs: list, show, cancel; their state alone")
    .addHelpText(
      "after",
      '\nExamples:\n  appliance job ls\n  appliance job show job-4f21\n  appliance job cancel job-4f21 --reason "the node is being repaired"',
    );

  leaves(job.command("ls"), { none: "status" })
    .description(`jobs that have not ended; with --all the newest ${LIMIT}`)
    .option("--all", "those that have ended as well", false)
    .option("--json", "one JSON line", false)
    .action(async ({ all, json }: { all: boolean; json: boolean }) => {
      const { jobs } = await ask("job-list", { living: !all, limit: LIMIT });
      if (json) print(jobs);
      else
        table(
          HEAD,
          jobs.map((each) => row(each)),
          all ? "no job" : "no job runs or waits; --all shows those that have ended",
        );
    });

  leaves(job.command("show <job>"), { none: "status" })
    .description("one job and where its members are; the beginning of its id will do")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { json }: { json: boolean }) => {
      const { job: shown, members } = await ask("job-show", { job: id });
      if (json) return print({ job: shown, members });
      table(HEAD, [row(shown)], "");
      say("");
      table(
        ["ROLE", "SITE", "NODE", "WORKERS", "STATE"],
        members.map(({ role, site, node, workers, state }) => [
          role,
          site ?? "-",
          node,
          workers.join(", ") || "-",
          state,
        ]),
        "not placed yet",
      );
    });

  leaves(job.command("cancel <job>"), { event: "job.cancel", loggedBy: "coordinator" })
    .description("stop a job, named by its id or how that begins; its owner reads the reason")
    .requiredOption("--reason <text>", "why, at most 200 characters")
    .option("--json", "one JSON line", false)
    .action(async (id: string, { reason, json }: { reason: string; json: boolean }) => {
      const cancelled = await ask("job-cancel", { job: id, reason });
      if (json) print(printedAnswer("job-cancel", cancelled));
      else say(`${cancelled.job} is ${cancelled.state}`);
    });
}

function row({
  job,
  kind,
  username,
  state,
  since,
  attempt,
  round,
  rounds,
  waitingFor,
  reason,
}: JobFacts): string[] {
  const progress = rounds === null ? "-" : `${round ?? 0}/${rounds}`;
  return [
    job,
    kind,
    username,
    state,
    formatFromNow(since, Date.now()),
    String(attempt),
    progress,
    waitingFor ?? reason ?? "-",
  ];
}
