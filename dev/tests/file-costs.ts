/** What each test file cost, for the end of a run: whoever adds to the dearest sees it there. */

export type FileCost = {
  /** Path in the repository. */
  file: string;
  /** Seconds of CPU of its process and of all processes that it waited for. */
  cpuSeconds: number;
  /** Seconds of CPU of what it started and nobody of it waited for: containers, what was let go. */
  partsSeconds: number;
  /** Seconds from its first line to its end. */
  wallSeconds: number;
};

const LISTED = 30;

/** @param text lines of `note-cpu.mjs`: seconds of CPU, seconds, absolute path, with tabs between */
export function readFileCosts(text: string, repository: string): FileCost[] {
  return text
    .split("\n")
    .map((line) => line.split("\t"))
    .filter((fields) => fields.length === 3)
    .map(([cpu = "", wall = "", path = ""]) => ({
      file: path.startsWith(`${repository}/`) ? path.slice(repository.length + 1) : path,
      ...{ cpuSeconds: Number(cpu), partsSeconds: 0, wallSeconds: Number(wall) },
    }));
}

export function wholeOf({ cpuSeconds, partsSeconds }: FileCost): number {
  return cpuSeconds + partsSeconds;
}

/** The dearest first, and how much of the whole they are. Empty where nothing ran. */
export function listDearest(costs: readonly FileCost[]): string {
  if (costs.length === 0) return "";
  const dearest = costs.toSorted((a, b) => wholeOf(b) - wholeOf(a)).slice(0, LISTED);
  const [whole, listed] = [costs, dearest].map((some) =>
    Math.round(some.reduce((sum, cost) => sum + wholeOf(cost), 0)),
  );
  return [
    `the ${dearest.length} dearest of ${costs.length} files: ${listed} of ${whole} s of CPU`,
    "  CPU s  of it containers and daemons  wall s  file",
    ...dearest.map((cost) =>
      [
        wholeOf(cost).toFixed(1).padStart(7),
        cost.partsSeconds.toFixed(1).padStart(28),
        cost.wallSeconds.toFixed(1).padStart(9),
        `  ${cost.file}`,
      ].join(""),
    ),
  ].join("\n");
}

/**
 * What no file's account has: parts that several share, the making of what they use, and what nobody could be found for.
 * @param shared owner → seconds @param machineSeconds of the whole machine in that time
 */
export function listShared(
  shared: ReadonlyMap<string, number>,
  costs: readonly FileCost[],
  machineSeconds: number,
): string {
  const rows = [...shared].toSorted(([, a], [, b]) => b - a);
  const counted = [...costs.map(wholeOf), ...rows.map(([, seconds]) => seconds)];
  const rest = machineSeconds - counted.reduce((sum, seconds) => sum + seconds, 0);
  return [...rows, ["the run itself, and what was too short to be seen", rest] as const]
    .map(([name, seconds]) => `${seconds.toFixed(1).padStart(7)}  ${name}`)
    .join("\n");
}
