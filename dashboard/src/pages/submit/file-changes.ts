/** What becomes of an earlier job's files in a new one. Pure. */
import {
  bodyOfFiles,
  faultOfFiles,
  keyOfPlace,
  placeOf,
  runsOneScript,
} from "@resontech/contracts/changed-files";
import type { JobParametersReply } from "@resontech/contracts/http-jobs";

type Input = JobParametersReply["inputs"][number];
export type FileChange =
  | { kind: "edited"; before: string; text: string }
  | { kind: "replaced"; file: File }
  | { kind: "removed" };
/** @property content a text that is written here, or a file of the person's */
export type AddedFile = { id: string; path: string; content: File | string };
/** @property of by key of the input */
export type FileChanges = { of: ReadonlyMap<string, FileChange>; added: readonly AddedFile[] };
export const NO_CHANGES: FileChanges = { of: new Map(), added: [] };

/** What is to be stored, with what it takes the place of, or where it is new. */
type FileToStore = {
  file: { key: string } & ({ input: string } | { path: string });
  content: File | string;
};

/** Without what was opened and is as it was. */
export function changedInputs(
  inputs: readonly Input[],
  { of }: FileChanges,
): { input: Input; change: FileChange }[] {
  return inputs.flatMap((input) => {
    const change = of.get(input.key);
    return change === undefined || (change.kind === "edited" && change.text === change.before)
      ? []
      : [{ input, change }];
  });
}

/** @param slug of the new job: its folder */
export function filesToStore(
  inputs: readonly Input[],
  changes: FileChanges,
  slug: string,
): FileToStore[] {
  return [
    ...changedInputs(inputs, changes).flatMap(({ input, change }) =>
      change.kind === "removed"
        ? []
        : [
            {
              file: { input: input.key, key: keyOfPlace(slug, placeOf(input)) },
              content: change.kind === "edited" ? change.text : change.file,
            },
          ],
    ),
    ...changes.added.map(({ path, content }) => ({
      file: { path, key: keyOfPlace(slug, path) },
      content,
    })),
  ];
}

export function removedInputs(inputs: readonly Input[], changes: FileChanges): string[] {
  return changedInputs(inputs, changes)
    .filter(({ change }) => change.kind === "removed")
    .map(({ input }) => input.key);
}

/** In words, before anything is sent; null where nothing is wrong. */
export function faultOfChanges(
  { kind, inputs }: Pick<JobParametersReply, "kind" | "inputs">,
  changes: FileChanges,
): { code: string; message: string } | null {
  const added = changes.added.map(({ path }) => ({ path, key: path }));
  return faultOfFiles({ kind, inputs }, bodyOfFiles(added, removedInputs(inputs, changes)));
}

/** Where a file of this name most likely belongs. */
export function placeOfNew(
  { kind, inputs }: Pick<JobParametersReply, "kind" | "inputs">,
  name: string,
): string {
  if (runsOneScript(kind)) {
    const beside = inputs.find((input) => input.kind === "file")?.path.split("/")[1];
    return `payload/${beside ?? "inputs"}/${name}`;
  }
  if (/\.zip$/i.test(name)) return `shards/${name}`;
  if (name === "requirements.txt") return `requirements/${name}`;
  return name.endsWith(".json") ? `configs/${name}` : `scripts/${name}`;
}
