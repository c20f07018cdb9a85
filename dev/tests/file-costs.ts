/** What each test file cost, for the end of a run: whoever adds to the dearest sees it there. */

export type FileCost = {
  /** Path in the repository. */
  file: string;
  /** Seconds of CPU of its process and of all processes that it waited for; containers and what outlives it are not in it. */
  cpuSeconds: number;
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
      ...{ cpuSeconds: Number(cpu), wallSeconds: Number(wall) },
    }));
}

/** The dearest first, and how much of the whole they are. Empty where nothing ran. */
export function listDearest(costs: readonly FileCost[]): string {
  if (costs.length === 0) return "";
  const dearest = costs.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds).slice(0, LISTED);
  const [whole, listed] = [costs, dearest].map((some) =>
    Math.round(some.reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)),
  );
  return [
    `the ${dearest.length} dearest of ${costs.length} files: ${listed} of ${whole} s of CPU`,
    "  CPU s  wall s  file",
    ...dearest.map(
      ({ file, cpuSeconds, wallSeconds }) =>
        `${cpuSeconds.toFixed(1).padStart(7)} ${wallSeconds.toFixed(1).padStart(7)}  ${file}`,
    ),
  ].join("\n");
}
