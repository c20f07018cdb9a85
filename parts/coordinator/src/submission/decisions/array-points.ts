/** The points of an array of jobs, and what a task is at one of them. Pure. */
import { type ArrayBody, MOST_ARRAY_POINTS } from "@resontech/contracts/http-arrays";
import { ApiError } from "../../api-error.ts";
import type { ArrayPlace } from "../../kernel/accepted-array.ts";
import type { ValidatedTask } from "../validated-task.ts";

/** As Slurm's `SLURM_ARRAY_TASK_ID` and `SLURM_ARRAY_TASK_COUNT`. */
const INDEX = "RESONTECH_ARRAY_INDEX";
const COUNT = "RESONTECH_ARRAY_COUNT";
/** What a task may have of each, as its own body may. */
const MOST_WORDS = 64;

/** What kinds that run a script keep of how it is started. */
type StartSpec = { arguments: string[]; environment: Record<string, string> };

/** In the order in which they are queued: of a grid the last parameter changes first. @throws ApiError validation_failed */
export function arrayPoints({ indexes, grid }: ArrayBody): ArrayPlace[] {
  if ((indexes === undefined) === (grid === undefined))
    throw invalid("one of indexes and grid is to be said");
  return grid === undefined ? pointsOfIndexes(indexes!) : pointsOfGrid(grid);
}

function pointsOfIndexes({ from, to, step = 1 }: NonNullable<ArrayBody["indexes"]>): ArrayPlace[] {
  if (to < from) throw invalid(`indexes.to is before indexes.from: ${to} before ${from}`);
  const count = Math.floor((to - from) / step) + 1;
  requireRoom(count);
  return Array.from({ length: count }, (_, at) => ({ point: from + at * step, parameters: {} }));
}

function pointsOfGrid(grid: NonNullable<ArrayBody["grid"]>): ArrayPlace[] {
  const names = new Set<string>();
  for (const { name, values } of grid) {
    if (names.has(name)) throw invalid(`grid names the parameter ${name} twice`);
    names.add(name);
    const twice = values.find((value, at) => values.indexOf(value) !== at);
    if (twice !== undefined) throw invalid(`the parameter ${name} has the value ${twice} twice`);
  }
  requireRoom(grid.reduce((product, { values }) => product * values.length, 1));
  let points: Record<string, string>[] = [{}];
  for (const { name, values } of grid)
    points = points.flatMap((point) => values.map((value) => ({ ...point, [name]: value })));
  return points.map((parameters, point) => ({ point, parameters }));
}

/** The task as the job of one point: a name and a folder of its own, and the point in its arguments and environment. @throws ApiError validation_failed */
export function taskAtPoint<T extends Pick<ValidatedTask, "name" | "slug" | "outputRoot" | "spec">>(
  task: T,
  { point, parameters }: ArrayPlace,
  count: number,
): T {
  const spec = startSpecOf(task.spec);
  const given = Object.entries(parameters).map(([name, value]) => `--${name}=${value}`);
  const started: StartSpec = {
    arguments: [...spec.arguments, ...given],
    environment: { ...spec.environment, [INDEX]: String(point), [COUNT]: String(count) },
  };
  if (started.arguments.length > MOST_WORDS)
    throw invalid(`arguments and parameters together are more than ${MOST_WORDS}`);
  return {
    ...task,
    name: `${task.name} ${point}`,
    slug: `${task.slug}-${point}`,
    outputRoot: `${task.outputRoot}-${point}`,
    spec: { ...spec, ...started },
  };
}

/** @throws ApiError validation_failed for a kind that starts no script, and where the script is told of its place already */
function startSpecOf(spec: object | null): StartSpec {
  const { arguments: given, environment } = (spec ?? {}) as Partial<StartSpec>;
  if (given === undefined || environment === undefined)
    throw invalid("task is of a kind that runs no script: command and distributed do");
  for (const name of [INDEX, COUNT])
    if (environment[name] !== undefined) throw invalid(`task.environment sets ${name}`);
  return { ...spec, arguments: given, environment };
}

function requireRoom(count: number): void {
  if (count > MOST_ARRAY_POINTS)
    throw invalid(`the array would have ${count} jobs, at most ${MOST_ARRAY_POINTS} are taken`);
}

function invalid(message: string): ApiError {
  return new ApiError("validation_failed", `body: ${message}`);
}
