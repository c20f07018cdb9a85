/**
 * Tries the pages as a new user would, from the pages alone: presses and types what is visible in Chromium, beginning at the overview. Each task has a
 * goal in seconds, and an answer that is known without the pages.
 *
 * `npm run prove -- dashboard-tasks [--into=FOLDER] [TASK…]`; a TASK is the beginning of a task's name. Each leaves a picture of its answer. Needs root.
 */
import { mkdirSync } from "node:fs";
import { join, relative } from "node:path";
import { askTheLog } from "./dashboard-tasks/ask-the-log.ts";
import { compareRuns } from "./dashboard-tasks/compare-runs.ts";
import { findCauses } from "./dashboard-tasks/find-causes.ts";
import { fullestDisk } from "./dashboard-tasks/fullest-disk.ts";
import { Office } from "./dashboard/office.ts";
import { runAgain } from "./dashboard-tasks/run-again.ts";
import { talkToModel } from "./dashboard-tasks/talk-to-model.ts";
import { type Task, type Tried, tryTask } from "./dashboard-tasks/task.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const REPOSITORY = join(import.meta.dirname, "..", "..");
/** No job waits for another. */
const WORKERS = 30;
const INTO = join(REPOSITORY, "docs", "images", "tasks");

type MakeTasks = (office: Office, progress: (line: string) => void) => Promise<Task[]>;

/** By the beginning of their names. */
const GROUPS: Readonly<Record<string, MakeTasks>> = {
  disk: fullestDisk,
  compare: compareRuns,
  why: findCauses,
  run: runAgain,
  talk: talkToModel,
  // Last: the log has something to tell then.
  audit: askTheLog,
};

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const into = args.find((arg) => arg.startsWith("--into="))?.slice("--into=".length) ?? INTO;
  const wanted = args.filter((arg) => !arg.startsWith("--"));
  mkdirSync(into, { recursive: true });
  await using office = await Office.open(progress, WORKERS);
  const tried: Record<string, Tried> = {};
  for (const [group, make] of Object.entries(GROUPS)) {
    if (wanted.length > 0 && !wanted.some((one) => one.startsWith(group))) continue;
    for (const task of await make(office, progress)) {
      if (wanted.length > 0 && !wanted.some((one) => task.name.startsWith(one))) continue;
      const done = await tryTask(task, into, relative(REPOSITORY, into));
      tried[task.name] = done;
      const { right, clicks, fields, seconds, said } = done;
      progress(
        `${task.name}: ${right ? "right" : "WRONG"}, ${clicks} clicks, ${fields} fields, ${seconds} s: ${said}`,
      );
    }
  }
  const all = Object.entries(tried);
  const names = (holds: (one: Tried) => boolean) =>
    all.filter(([, one]) => holds(one)).map(([name]) => name);
  const wrong = names(({ right }) => !right);
  const late = names(({ seconds, goal_s }) => seconds > goal_s);
  const most = (of: (one: Tried) => number) => Math.max(0, ...all.map(([, one]) => of(one)));
  return {
    ok: all.length > 0 && wrong.length + late.length === 0,
    figures: {
      ...{ tasks: all.length, right: all.length - wrong.length, wrong, late },
      ...{ most_clicks: most(({ clicks }) => clicks), slowest_s: most(({ seconds }) => seconds) },
      ...{ tried },
    },
  };
}
