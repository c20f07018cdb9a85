/** What jobs were made of, row by row, those first in which they differ. Pure. */
import type { JobParametersReply } from "../http/http-jobs.ts";
import { shellWord } from "./shell-word.ts";

type ParameterRow = { name: string; cells: string[]; isDifferent: boolean };

const NONE = "–";
const DIGEST_CHARS = 12;

/** How whoever shows them says what is no text. */
type ParameterWords = {
  /** Of its id. */
  projectName: (id: string) => string;
  size: (bytes: number) => string;
};

/** @param jobs null for one whose parameters are not known */
export function parameterRows(
  jobs: readonly (JobParametersReply | null)[],
  { projectName, size }: ParameterWords,
): ParameterRow[] {
  const row = (name: string, say: (job: JobParametersReply) => string): ParameterRow => {
    const cells = jobs.map((job) => (job === null ? NONE : say(job) || NONE));
    const known = cells.filter((_, at) => jobs[at] !== null);
    return { name, cells, isDifferent: new Set(known).size > 1 };
  };
  const filesOf = (job: JobParametersReply) => filesByPath(job, size);
  const paths = [...new Set(jobs.flatMap((job) => (job === null ? [] : [...filesOf(job).keys()])))];
  const rows = [
    row("Code", ({ codeDigest }) => codeDigest.slice(0, DIGEST_CHARS)),
    row("Kind", ({ kind }) => kind),
    row("Project", ({ projectId }) => projectName(projectId)),
    row("Arguments", (job) => job.arguments.map(shellWord).join(" ")),
    row("Environment", ({ environment }) =>
      Object.entries(environment)
        .map(([name, value]) => `${name}=${shellWord(value)}`)
        .sort()
        .join(" "),
    ),
    row("Rounds", ({ rounds }) => String(rounds ?? "")),
    row("Sites", ({ inputs }) =>
      String(inputs.filter(({ kind }) => kind === "shard").length || ""),
    ),
    row("Sites that end a round", ({ minSites }) => String(minSites || "")),
    row("Devices", ({ gpuModels }) => gpuModels?.join(", ") ?? "any"),
    row("Workers", ({ workerIds }) => workerIds?.join(", ") ?? "whichever fit"),
    row("Ranks", ({ ranks }) => String(ranks ?? "")),
    row("Strategy", ({ strategy }) => strategy ?? ""),
    row("Workers of a member", ({ workersPerMember }) => String(workersPerMember)),
    row("Processors of a member", ({ cpusPerMember: cpus }) => String(cpus ?? "")),
    row("Memory of a member", ({ hostMemoryMbPerMember: mb }) =>
      mb === null ? "" : size(mb * 1024 ** 2),
    ),
    row("Highest price", ({ maxPricePerGpuHourCents: cents }) =>
      cents === null ? "any" : `${cents} cents an hour`,
    ),
    row("Memory asked for", ({ estimatedMemoryMb: mb }) =>
      mb === null ? "" : size(mb * 1024 ** 2),
    ),
    row("Time limit", ({ timeLimitMinutes: minutes }) =>
      minutes === null ? "none" : `${minutes} min`,
    ),
    row("Class", (job) => job.class ?? "that of its kind"),
    row("Makes way", ({ preemptible }) =>
      preemptible === false ? "not within a guarantee" : "yes",
    ),
    row("Pool", ({ pool }) => pool ?? "any"),
    row("Image", ({ images }) => images.map(imageWords).join(", ")),
    ...paths.map((path) => row(path, (job) => filesOf(job).get(path) ?? "")),
  ];
  return [
    ...rows.filter(({ isDifferent }) => isDifferent),
    ...rows.filter((one) => !one.isDifferent),
  ];
}

/** Files by the path that a member finds them at; shards by their site. */
function filesByPath(
  { inputs }: JobParametersReply,
  size: (bytes: number) => string,
): Map<string, string> {
  let site = 0;
  return new Map(
    inputs.map(({ kind, path, sizeBytes, etag }) => [
      kind === "shard" ? `data of site ${++site}` : path,
      `${size(sizeBytes)}, ${etag.replaceAll('"', "").slice(0, DIGEST_CHARS)}`,
    ]),
  );
}

function imageWords({ profile, reference }: { profile: string; reference: string }): string {
  const digest = /@sha256:([0-9a-f]+)$/.exec(reference)?.[1];
  return digest === undefined ? profile : `${profile} ${digest.slice(0, DIGEST_CHARS)}`;
}
