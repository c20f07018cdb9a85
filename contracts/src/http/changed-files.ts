/** Files of a job like an earlier one: where a person finds them, and what no job can be made of. Pure. */
import type { JobParametersReply } from "./http-jobs.ts";
import type { TaskVariantBody } from "./http-tasks.ts";
import { fileAbove, isFilePath } from "../storage/file-path.ts";

type Input = Pick<JobParametersReply["inputs"][number], "kind" | "key" | "path">;
export type ChangedFiles = Pick<TaskVariantBody, "files" | "addedFiles" | "removedFiles">;

/** A stored file, with what it takes the place of or where it is new. */
type StoredFile = ({ input: string } | { path: string }) & { key: string; versionId?: string };

/** The code is one of the API's catalogue. */
type FileFault = {
  code: "not_found" | "file_named_twice" | "file_place_unknown" | "input_name_invalid";
  message: string;
};

/** As the agent protocol takes it, with room for what it puts before. */
const MAX_PATH_BYTES = 1_000;
/** What lies in a folder of a job, and how deep: `file` straight in it, `files` anywhere below, `folders` in folders of it. */
type Place = { kind: string; holds: "file" | "files" | "folders" };
/** By the kind of the job. */
const PLACES = new Map<string, ReadonlyMap<string, Place>>([
  [
    "federation",
    new Map<string, Place>([
      ["scripts", { kind: "script", holds: "files" }],
      ["configs", { kind: "config", holds: "files" }],
      ["requirements", { kind: "requirements", holds: "files" }],
      ["shards", { kind: "shard", holds: "file" }],
      ["model", { kind: "model", holds: "file" }],
    ]),
  ],
  ["command", new Map<string, Place>([["payload", { kind: "file", holds: "folders" }]])],
  ["distributed", new Map<string, Place>([["payload", { kind: "file", holds: "folders" }]])],
]);

/** Whether jobs of the kind run one script, which none can do without. */
export function runsOneScript(jobKind: string): boolean {
  return jobKind === "command" || jobKind === "distributed";
}

/** Its path below a job's folder, as a person who uploads one lays it out. */
export function placeOf({ kind, key, path }: Input): string {
  return kind === "shard" ? `shards/${key.slice(key.lastIndexOf("/") + 1)}` : path;
}

/** Where in the bucket a file of the new job is stored: folders of another job's outputs are closed to whoever uploads. */
export function keyOfPlace(slug: string, place: string): string {
  return `jobs/${slug}/${place.replaceAll(/(?<=^|\/)(model_out|files_out|logs|ckpt)\//g, "")}`;
}

/** As the API takes them: what is empty is not said. */
export function bodyOfFiles(
  stored: readonly StoredFile[],
  removedFiles: readonly string[],
): ChangedFiles {
  const files = stored.filter((one) => "input" in one);
  const addedFiles = stored.filter((one) => "path" in one);
  return {
    ...(files.length === 0 ? {} : { files }),
    ...(addedFiles.length === 0 ? {} : { addedFiles }),
    ...(removedFiles.length === 0 ? {} : { removedFiles: [...removedFiles] }),
  };
}

/** What a file at this place is to a job of the kind; null where the job would not read it. */
export function kindOfPlace(jobKind: string, place: string): string | null {
  const [folder = "", ...below] = place.split("/");
  const found = PLACES.get(jobKind)?.get(folder);
  if (found === undefined) return null;
  const depth = { file: below.length === 1, files: below.length >= 1, folders: below.length >= 2 };
  const isRead = found.kind !== "shard" || place.toLowerCase().endsWith(".zip");
  return depth[found.holds] && isRead ? found.kind : null;
}

/** The first thing that is wrong with changes of files, before the bucket is asked; null where nothing is. */
export function faultOfFiles(
  job: { kind: string; inputs: readonly Input[] },
  { files = [], addedFiles = [], removedFiles = [] }: ChangedFiles,
): FileFault | null {
  const changed = [...files.map(({ input }) => input), ...removedFiles];
  const unknown = changed.find((key) => !job.inputs.some((input) => input.key === key));
  if (unknown !== undefined)
    return { code: "not_found", message: `the earlier task read no /${unknown}` };
  const again = changed.find((key, at) => changed.indexOf(key) !== at);
  if (again !== undefined)
    return { code: "file_named_twice", message: `/${again} is changed twice` };
  const removed = new Set(removedFiles);
  const script = runsOneScript(job.kind) ? job.inputs.find(({ kind }) => kind === "script") : null;
  if (script != null && removed.has(script.key))
    return {
      code: "file_place_unknown",
      message: `/${script.key} is the ${job.kind}'s script: replace it`,
    };
  const taken = new Set(job.inputs.filter(({ key }) => !removed.has(key)).map(placeOf));
  for (const { path } of addedFiles) {
    const fault = faultOfPlace(job.kind, path, taken);
    if (fault !== null) return fault;
    taken.add(path);
  }
  for (const path of taken) {
    const above = fileAbove(path, taken);
    if (above !== null)
      return { code: "input_name_invalid", message: `${above} would be a file and a folder` };
  }
  return null;
}

function faultOfPlace(jobKind: string, path: string, taken: ReadonlySet<string>): FileFault | null {
  if (!isFilePath(path, MAX_PATH_BYTES))
    return { code: "input_name_invalid", message: `${JSON.stringify(path)} is no path of a file` };
  if (kindOfPlace(jobKind, path) === null)
    return { code: "file_place_unknown", message: `a ${jobKind} reads no ${path}` };
  if (taken.has(path)) return { code: "file_named_twice", message: `there is a ${path} already` };
  return null;
}
