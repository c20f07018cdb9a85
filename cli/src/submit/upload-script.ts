/** A script and the folders that it reads, uploaded to where a task finds them. */
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { slugOf } from "@resontech/contracts/ready-folder";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { filesIn, keyOf } from "../storage/commands.ts";
import { putFile } from "../storage/put-file.ts";

/** As a task's body names them. */
export type UploadedScript = { name: string; scriptPath: string; inputFolders?: string[] };

/** @param named what the task is called; the script's name where none is given @throws CliError `path_missing`, before anything is sent */
export async function uploadScript(
  settings: Settings,
  script: string,
  { named, data }: { named: string | undefined; data: readonly string[] },
): Promise<UploadedScript> {
  const file = basename(script);
  const name = named ?? file.replace(/\.(?:py|sh)$/, "");
  const root = `jobs/${slugOf(name)}`;
  const folders = data.map((folder) => ({ folder, key: `${root}/${basename(resolve(folder))}` }));
  for (const { folder } of folders)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new CliError("path_missing", `${folder} is no folder`, "Name a folder of files.");
  const scriptKey = `${root}/scripts/${file}`;
  await putFile(settings, script, scriptKey);
  for (const { folder, key } of folders)
    for (const one of filesIn(folder)) await putFile(settings, one, `${key}/${keyOf(folder, one)}`);
  return {
    ...{ name, scriptPath: `/${scriptKey}` },
    ...(folders.length === 0 ? {} : { inputFolders: folders.map(({ key }) => `/${key}`) }),
  };
}
