/** What can be wrong with a command, found in the bucket before it is accepted. */
import type { SubmitCommandBody } from "@resontech/contracts/http-tasks";
import { ApiError } from "../../api-error.ts";
import { chooseImages } from "../../submission/decisions/choose-images.ts";
import { askSpecOfBody } from "../../submission/decisions/member-asks.ts";
import { slugOf } from "../../submission/decisions/slug-of.ts";
import { selectWorkers } from "../../submission/decisions/worker-selection.ts";
import {
  asKept,
  taskName,
  type ValidatedTask,
  type ValidationDeps,
} from "../../submission/validated-task.ts";
import type { CommandSpec } from "./command.ts";
import { imagesNamed, readScriptFiles, scriptPlaces } from "./script-files.ts";

/** By the end of the script's name. */
const INTERPRETERS: readonly [end: string, command: string[]][] = [
  [".py", ["python3", "-u"]],
  [".sh", ["/bin/sh"]],
];

/** @throws ApiError with the code of the first thing found wrong */
export async function validateCommand(
  deps: ValidationDeps,
  bucket: string,
  body: SubmitCommandBody,
): Promise<ValidatedTask> {
  const name = taskName(body.name);
  const places = scriptPlaces(body);
  const interpreter = INTERPRETERS.find(([end]) => places.script.endsWith(end))?.[1];
  if (interpreter === undefined)
    throw new ApiError("validation_failed", "body.scriptPath ends neither in .py nor in .sh");

  const workers = deps.workers();
  const selection = selectWorkers(body, 1, workers, deps.catalogue());
  // A command brings no requirements: every image that its worker runs will do.
  const images = chooseImages(selection, imagesNamed(body.imageProfile, deps.images), workers, {
    hasHub: false,
    judge: () => {},
  });

  const { file, inputs, inputBytes, hasKeyInScript, warnings } = await readScriptFiles(
    deps,
    bucket,
    places,
  );
  const spec: CommandSpec = {
    ...{ interpreter, script: file },
    ...{ arguments: body.arguments ?? [], environment: body.environment ?? {} },
    ...askSpecOfBody(body),
  };
  const slug = slugOf(name);
  return {
    kind: "command",
    spec,
    ...{ name, slug, bucket, outputRoot: `jobs/${slug}`, selection, ...asKept(images) },
    inputs,
    onlyMine: body.onlyMineWorkers ?? false,
    estimatedMemoryMb: body.estimatedMemoryMb ?? null,
    timeLimitMs: body.timeLimitMinutes === undefined ? null : body.timeLimitMinutes * 60_000,
    ...{ jobClass: body.class ?? null, isPreemptible: body.preemptible ?? null },
    ...{ numRounds: null, firstRound: 0, minClients: 0, resumable: false },
    warnings,
    shardUncompressedBytes: [inputBytes],
    hasKeyInScript,
  };
}
