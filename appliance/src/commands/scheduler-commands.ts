/** `appliance scheduler …`: plans that were recorded, and what they come out as when they are made again. */
import { EXIT } from "@resontech/contracts/exit-codes";
import type { PlanFacts } from "@resontech/contracts/operator-scheduler";
import { type Command, InvalidArgumentError } from "commander";
import { leaves } from "../audit/command-audit.ts";
import { type OperatorShell, printedAnswer } from "./ask-operator.ts";
import { toldDecisions } from "./decisions/told-decisions.ts";

const LIMIT = 50;
const HEAD = ["PLAN", "WHEN (UTC)", "INPUT", "DECIDED"];
/** Of a digest, as git shows one: the whole stands in the JSON. */
const DIGEST_SHOWN = 12;

export function addSchedulerCommands(
  program: Command,
  { ask, print, table, say }: OperatorShell,
): void {
  const scheduler = program
    .command("scheduler")
    .description("plans of the scheduler: what they decided, and the same plan made again")
    .addHelpText(
      "after",
      "\nExamples:\n  appliance scheduler plans\n  appliance scheduler plans --job job-4f21\n  appliance scheduler replay 812\n  appliance scheduler replay 812 --job job-4f21",
    );

  leaves(scheduler.command("plans"), { none: "status" })
    .description("plans that decided something, the newest first; older ones make room")
    .option("--job <id>", "those alone that decided about a job; how its id begins will do")
    .option("--limit <count>", `so many at most, up to 1000 (default: ${LIMIT})`, countOf, LIMIT)
    .option("--json", "one JSON line", false)
    .action(async ({ job, limit, json }: { job?: string; limit: number; json: boolean }) => {
      const answer = await ask("plan-list", { limit, ...(job === undefined ? {} : { job }) });
      if (json) return print(printedAnswer("plan-list", answer));
      const { plans, unread, recording } = answer;
      table(HEAD, plans.map(row), "no plan that decided anything is recorded");
      for (const { file, why, at, bytes, after } of unread)
        say(
          `warning: ${file} ${UNREAD[why]} at byte ${at}: ${bytes} bytes ${after === null ? "" : `after plan ${after} `}can't be read`,
        );
      if (recording !== "ok")
        say(`warning: no plan is recorded now: the disk ${STATES[recording]}`);
    });

  leaves(scheduler.command("replay"), { none: "status" })
    .description(
      "makes a recorded plan again by the planner of this release, and compares byte by byte; exit code 3 where it decides otherwise",
    )
    .argument("<plan>", "its number, as `appliance scheduler plans` shows", planOf)
    .option("--job <id>", "what the plan says about this job; how its id begins will do")
    .option("--json", "one JSON line", false)
    .action(async (plan: number, { job, json }: { job?: string; json: boolean }) => {
      const answer = await ask("plan-replay", {
        plan,
        ...(job === undefined ? {} : { job }),
      });
      const { plan: recorded, replayed, replayedBy, isSame, job: told } = answer;
      if (!isSame) process.exitCode = EXIT.notAsWanted;
      if (json) return print(printedAnswer("plan-replay", answer));
      say(`plan ${recorded.plan} of ${recorded.at}, made by ${recorded.release}`);
      say(`input ${recorded.input}`);
      say(`decided: ${toldDecisions(recorded.decisions)}`);
      if (isSame) say(`${replayedBy} decides the same, byte by byte`);
      else {
        say(`${replayedBy} decides otherwise: ${toldDecisions(replayed ?? recorded.decisions)}`);
        if (replayedBy !== recorded.release)
          say("another release made the plan: its planner may have been another");
      }
      if (told === null) return;
      for (const sentence of told.told) say(`${told.job}: ${sentence}`);
      if (told.told.length === 0) say(`${told.job}: the plan says nothing about it`);
    });
}

const UNREAD = {
  cut: "was cut",
  changed: "holds other bytes than were written",
  newer: "was written by a newer release",
} as const;
const STATES = { full: "is full", failing: "fails" } as const;

function row({ plan, at, input, decisions, isDamaged, missed }: PlanFacts): string[] {
  const notes = [
    ...(isDamaged ? ["damaged: can't be made again"] : []),
    ...(missed === 0 ? [] : [`${missed} before it not recorded`]),
  ];
  return [
    ...[String(plan), at.slice(0, 19).replace("T", " "), input.slice(0, DIGEST_SHOWN)],
    [toldDecisions(decisions), ...notes].join("; "),
  ];
}

function countOf(text: string): number {
  if (/^[1-9]\d{0,3}$/.test(text) && Number(text) <= 1_000) return Number(text);
  throw new InvalidArgumentError("Write a whole number from 1 to 1000.");
}

function planOf(text: string): number {
  if (/^[1-9]\d{0,11}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(
    "Write the number of a plan, as `appliance scheduler plans` shows.",
  );
}
