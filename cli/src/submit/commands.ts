/** `resontech submit`: a job from a ready folder, or from a Python file of the public client. */
import { readdirSync, statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { STRATEGIES, type Strategy } from "@resontech/contracts/distributed-spec";
import type { AskedClass, TaskReply } from "@resontech/contracts/http-tasks";
import { bodyOfFolder, missingFolders, slugOf } from "@resontech/contracts/ready-folder";
import type { Command } from "commander";
import { sendJson } from "../api-client.ts";
import { projectOption, settingsInProject } from "../chosen-project.ts";
import { CliError, UsageError } from "../cli-error.ts";
import { readJob } from "../jobs/read-jobs.ts";
import { type AskedOrder, orderedJob, withOrder } from "../jobs/read-order.ts";
import { classOption, NOT_PREEMPTIBLE, PREEMPTIBLE } from "../jobs/class-options.ts";
import type { Settings } from "../settings.ts";
import { toldWithUnits } from "../size.ts";
import { filesIn, keyOf } from "../storage/commands.ts";
import { putFile } from "../storage/put-file.ts";
import { runClient } from "./run-client.ts";
import { readArray, withParameter } from "./read-points.ts";
import { ranksBody, strategyOf, submitRanks } from "./submit-ranks.ts";
import { uploadScript } from "./upload-script.ts";

/** A plan follows each submission within a second. */
const PLACEMENT_LOOKS = 8;
const PLACEMENT_LOOK_MS = 250;

const WAITING_STATES: ReadonlySet<string> = new Set(["ACCEPTED", "QUEUED", "HELD"]);

type Options = {
  project?: string;
  name?: string;
  gpuModels?: string;
  maxPrice?: number;
  memory?: number;
  minutes?: number;
  devices?: number;
  gpus?: number;
  strategy?: Strategy;
  data: string[];
  argument: string[];
  array?: ReturnType<typeof readArray>;
  grid: ReturnType<typeof withParameter>;
  cpus?: number;
  hostMemory?: number;
  after: AskedOrder[];
  pool?: string;
  class?: AskedClass;
  preemptible?: boolean;
  json: boolean;
};
type Shell = { say: (text: string) => void; countOf: (count: string) => number };

export function addSubmitCommand(program: Command, { say, countOf }: Shell): void {
  program
    .command("submit <path>")
    .description(
      "submit a job: a folder with shards/, scripts/, configs/ and requirements/, a script as several ranks (--gpus), or a Python file of the public client",
    )
    .option("--name <name>", "what the job is called; the folder's name where none is given")
    .option(
      "--gpu-models <ids>",
      "catalogue ids in order of preference, with commas: cpu, rtx_5090",
    )
    .option("--max-price <cents>", "at most so much for an hour of a device", countOf)
    .option("--memory <MiB>", "what a member needs of its device", countOf)
    .option(
      "--devices <n>",
      "so many devices, or slots of processors, of one node for each member",
      countOf,
    )
    .option(
      "--gpus <n>",
      "of a script: start it as so many ranks, each on a device of its own, or on a slot of processors",
      countOf,
    )
    .option(
      "--strategy <strategy>",
      `how its ranks share the work: ${STRATEGIES.join(", ")}`,
      strategyOf,
    )
    .option("--data <folder>", "a folder that its ranks read; may be repeated", collected, [])
    .option("--argument <text>", "of the script; may be repeated", collected, [])
    .option(
      "--array <indexes>",
      "of a script: a job for each index, as 0-99; at most eight at once with 0-99%8",
      readArray,
    )
    .option(
      "--grid <name=values>",
      "of a script: a job for each value, as lr=0.1,0.01; may be repeated, for each combination",
      withParameter,
      [],
    )
    .option("--cpus <n>", "processors of its node for each member", countOf)
    .option("--host-memory <MiB>", "memory of its node for each member", countOf)
    .option("--minutes <n>", "the job ends once it ran so long", countOf)
    .option(
      "--after <job>",
      "hold it until this job has succeeded, or with JOB:ended until it has ended; may be repeated",
      withOrder,
      [],
    )
    .option("--pool <pool>", "let it start on nodes of this pool alone, by its name or id")
    .addOption(classOption())
    .option(...PREEMPTIBLE)
    .option(...NOT_PREEMPTIBLE)
    .addOption(projectOption())
    .option("--json", "the appliance's answer", false)
    .addHelpText(
      "after",
      "\nExamples:\n  resontech submit study/ --gpu-models cpu\n  resontech submit study/ --project cardiology\n  resontech submit study/ --gpu-models h100 --devices 4\n  resontech submit study/ --name evaluation --after job-4f21\n  resontech submit study/ --name report --after job-4f21 --after job-77ab:ended\n  resontech submit study/ --class scavenger\n  resontech submit train.py\n  resontech submit train.py --gpus 2 --strategy ddp --data faces/ --argument=--epochs=3\n  resontech submit fit.py --array 0-99%8\n  resontech submit fit.py --grid lr=0.1,0.01 --grid depth=2,4 --array %4",
    )
    .action(async (path: string, options: Options) => {
      const found = statSync(path, { throwIfNoEntry: false });
      if (found === undefined)
        throw new CliError(
          "path_missing",
          `${path} is not there`,
          "Name a folder or a Python file.",
        );
      const settings = await settingsInProject(process.env, options.project);
      if (isArray(options) && !found.isDirectory()) {
        await submitPoints(settings, path, options, say);
        return;
      }
      if (options.gpus !== undefined && !found.isDirectory()) {
        const { name, gpus, strategy, data, argument } = options;
        const ofEveryKind = await saidOfEveryKind(settings, options);
        const asked = { name, gpus, strategy, data, argument, ofEveryKind };
        await tell(settings, await submitRanks(settings, path, asked), options.json, say);
        return;
      }
      requireNoRanks(options);
      if (!found.isDirectory()) {
        if (options.after.length > 0)
          throw new UsageError(
            "after_of_folder",
            "the public client does not know --after",
            "Submit a ready folder, or send `after` to POST /api/tasks.",
          );
        if (options.pool !== undefined)
          throw new UsageError(
            "pool_of_folder",
            "the public client does not know --pool",
            "Submit a ready folder, or send `pool` to POST /api/tasks.",
          );
        if (options.class !== undefined || options.preemptible !== undefined)
          throw new UsageError(
            "class_of_folder",
            "the public client does not know --class and --preemptible",
            "Submit a ready folder, or send `class` to POST /api/tasks.",
          );
        if (settings.project !== null)
          throw new UsageError(
            "project_of_credential",
            "the public client works in the project of its credential",
            "Mint a platform key of that project: resontech keys mint. Then set RESON_API_KEY, and leave --project and RESON_PROJECT out.",
          );
        process.exitCode = await runClient(settings, path);
        return;
      }
      const name = options.name ?? basename(resolve(path));
      const slug = slugOf(name);
      const folders = readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name);
      // What can't be a task is said before anything is sent.
      const missing = missingFolders(folders);
      if (missing.length > 0)
        throw new CliError(
          "folder_invalid",
          `the folder lacks ${missing.map((folder) => `${folder}/`).join(", ")}`,
          "A ready folder has shards/, scripts/, configs/ and requirements/, and may have model/.",
        );
      const after = await Promise.all(options.after.map((one) => orderedJob(settings, one)));
      const body = bodyOfFolder(name, folders, {
        gpuModels: options.gpuModels?.split(","),
        maxPriceCents: options.maxPrice,
        memoryMb: options.memory,
        minutes: options.minutes,
        ...{ workers: options.devices, cpus: options.cpus, hostMemoryMb: options.hostMemory },
        after: after.length === 0 ? undefined : after,
        pool: options.pool,
        jobClass: options.class,
        isPreemptible: options.preemptible,
      });
      for (const file of filesIn(path))
        await putFile(settings, file, `jobs/${slug}/${keyOf(path, file)}`);
      const job = await sendJson(settings, "POST", "/api/tasks", { body });
      await tell(settings, job, options.json, say);
    });
}

async function tell(
  settings: Settings,
  job: TaskReply,
  isJson: boolean,
  say: Shell["say"],
): Promise<void> {
  process.stdout.write(isJson ? `${JSON.stringify(job)}\n` : `${job.id}\n`);
  for (const warning of job.warnings) say(`warning: ${warning}`);
  say(`submitted ${job.name}: resontech jobs watch ${job.id}`);
  const why = await whyItWaits(settings, job);
  if (why !== null) say(`it waits: ${why}`);
}

/** One script as an array of jobs, each on a worker, or as several ranks with `--gpus`. @throws CliError */
async function submitPoints(
  settings: Settings,
  script: string,
  options: Options,
  say: Shell["say"],
): Promise<void> {
  const { name, gpus, strategy, data, argument, array = {}, grid } = options;
  if (grid.length > 0 && array.indexes !== undefined)
    throw new UsageError(
      "array_of_grid",
      "a grid has its own points",
      "Leave the indexes of --array out; with a grid --array %8 says how many run at once.",
    );
  if (grid.length === 0 && array.indexes === undefined)
    throw new UsageError("array_unreadable", "the array has no indexes", "Write --array 0-99%8.");
  if (gpus === undefined && strategy !== undefined)
    throw new UsageError(
      "ranks_of_script",
      "--strategy is of ranks, and each of these jobs is one process",
      "Say --gpus as well.",
    );
  const ofEveryKind = await saidOfEveryKind(settings, options);
  const task =
    gpus === undefined
      ? ({
          kind: "command",
          ...(await uploadScript(settings, script, { named: name, data })),
          ...ofEveryKind,
          ...(argument.length === 0 ? {} : { arguments: argument }),
        } as const)
      : await ranksBody(settings, script, { name, gpus, strategy, data, argument, ofEveryKind });
  const body = { task, ...array, ...(grid.length === 0 ? {} : { grid }) };
  const made = await sendJson(settings, "POST", "/api/arrays", { body });
  process.stdout.write(options.json ? `${JSON.stringify(made)}\n` : `${made.id}\n`);
  say(`submitted ${made.points.length} jobs of ${made.name}: resontech arrays show ${made.id}`);
}

function isArray({ array, grid }: Options): boolean {
  return array !== undefined || grid.length > 0;
}

async function saidOfEveryKind(settings: Settings, options: Options) {
  const after = await Promise.all(options.after.map((one) => orderedJob(settings, one)));
  return {
    ...said("gpuModels", options.gpuModels?.split(",")),
    ...said("maxPricePerGpuHourCents", options.maxPrice),
    ...said("estimatedMemoryMb", options.memory),
    ...said("timeLimitMinutes", options.minutes),
    ...said("workersPerMember", options.devices),
    ...said("cpusPerMember", options.cpus),
    ...said("hostMemoryMbPerMember", options.hostMemory),
    ...said("after", after.length === 0 ? undefined : after),
    ...said("pool", options.pool),
    ...said("class", options.class),
    ...said("preemptible", options.preemptible),
  };
}

/** What is passed over without a word would be missed later. @throws UsageError `ranks_of_script` */
function requireNoRanks(options: Options): void {
  const { gpus, strategy, data, argument } = options;
  if (isArray(options))
    throw new UsageError(
      "array_of_script",
      "--array and --grid are of a script, and this is a folder",
      "Name a Python file or a shell script.",
    );
  if (gpus !== undefined)
    throw new UsageError(
      "ranks_of_script",
      "--gpus is of a script, and this is a folder",
      "Name a Python file; of a folder each shard is a site of its own.",
    );
  if (strategy !== undefined || data.length > 0 || argument.length > 0)
    throw new UsageError(
      "ranks_of_script",
      "--strategy, --data and --argument are of a script that --gpus starts",
      "Say --gpus as well.",
    );
}

function collected(one: string, before: string[]): string[] {
  return [...before, one];
}

function said<K extends string, T>(name: K, value: T | undefined): { [P in K]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [P in K]?: T };
}

/** What the appliance says once it has tried to place the job; null: it is placed, or nobody knows yet. The job stands whatever becomes of the question. */
async function whyItWaits(settings: Settings, { id }: TaskReply): Promise<string | null> {
  try {
    for (let looks = 0; looks < PLACEMENT_LOOKS; looks++) {
      const { detail } = await readJob(settings, id);
      if (!WAITING_STATES.has(detail.state)) return null;
      if (detail.waitingFor !== null) return toldWithUnits(detail.waitingFor);
      await sleep(PLACEMENT_LOOK_MS);
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
  }
  return null;
}
