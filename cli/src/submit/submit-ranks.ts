/** A script as a training of several ranks: uploaded beside the folders that it reads, and submitted. */
import { STRATEGIES, type Strategy } from "@resontech/contracts/distributed-spec";
import type { SubmitDistributedBody, TaskReply } from "@resontech/contracts/http-tasks";
import { sendJson } from "../api-client.ts";
import { UsageError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { uploadScript } from "./upload-script.ts";

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

/** Uploads the script and its folders. @throws CliError */
export async function ranksBody(
  settings: Settings,
  script: string,
  { name, gpus, strategy, data, argument, ofEveryKind }: AskedRanks,
): Promise<SubmitDistributedBody> {
  return {
    ...{ kind: "distributed", workers: gpus },
    ...(await uploadScript(settings, script, { named: name, data })),
    ...ofEveryKind,
    ...(strategy === undefined ? {} : { strategy }),
    ...(argument.length === 0 ? {} : { arguments: [...argument] }),
  };
}

/** @throws CliError */
export async function submitRanks(
  settings: Settings,
  script: string,
  asked: AskedRanks,
): Promise<TaskReply> {
  const body = await ranksBody(settings, script, asked);
  return await sendJson(settings, "POST", "/api/tasks", { body });
}
