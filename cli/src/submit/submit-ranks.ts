/** A script as a training of several ranks: uploaded beside the folders that it reads, and submitted. */
import { statSync } from "node:fs";
import { basename, resolve } from "node:path";
import { STRATEGIES, type Strategy } from "@resontech/contracts/distributed-spec";
import type { SubmitDistributedBody, TaskReply } from "@resontech/contracts/http-tasks";
import { slugOf } from "@resontech/contracts/ready-folder";
import { sendJson } from "../api-client.ts";
import { CliError, UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { filesIn, keyOf } from "../storage/commands.ts";
import { putFile } from "../storage/put-file.ts";

/** As the command line says them. @property ofEveryKind what is said alike of every kind of task */
export type AskedRanks = {
  name?: string | undefined;
  gpus: number;
  strategy?: Strategy | undefined;
  data: readonly string[];
  argument: readonly string[];
  ofEveryKind: Omit<
    SubmitDistributedBody,
    "kind" | "name" | "scriptPath" | "workers" | "strategy" | "arguments" | "inputFolders"
  >;
};

/** @throws UsageError `strategy_unknown` */
export function strategyOf(said: string): Strategy {
  const found = STRATEGIES.find((strategy) => strategy === said);
  if (found === undefined)
    throw new UsageError(
      "strategy_unknown",
      `there is no strategy ${said}`,
      `Name one of ${STRATEGIES.join(", ")}.`,
    );
  return found;
}

/** @throws CliError */
export async function submitRanks(
  settings: Settings,
  script: string,
  { name: named, gpus, strategy, data, argument, ofEveryKind }: AskedRanks,
): Promise<TaskReply> {
  const file = basename(script);
  const name = named ?? file.replace(/\.py$/, "");
  const root = `jobs/${slugOf(name)}`;
  const folders = data.map((folder) => ({ folder, key: `${root}/${basename(resolve(folder))}` }));
  // What can't be a task is said before anything is sent.
  for (const { folder } of folders)
    if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true)
      throw new CliError("path_missing", `${folder} is no folder`, "Name a folder of files.");
  const scriptKey = `${root}/scripts/${file}`;
  await putFile(settings, script, scriptKey);
  for (const { folder, key } of folders)
    for (const one of filesIn(folder)) await putFile(settings, one, `${key}/${keyOf(folder, one)}`);
  const body: SubmitDistributedBody = {
    ...{ kind: "distributed", name, scriptPath: `/${scriptKey}`, workers: gpus },
    ...ofEveryKind,
    ...(strategy === undefined ? {} : { strategy }),
    ...(argument.length === 0 ? {} : { arguments: [...argument] }),
    ...(folders.length === 0 ? {} : { inputFolders: folders.map(({ key }) => `/${key}`) }),
  };
  return await sendJson(settings, "POST", "/api/tasks", { body });
}
