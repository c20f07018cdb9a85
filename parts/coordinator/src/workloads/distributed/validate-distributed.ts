/** What can be wrong with a training of several ranks, found in the bucket before it is accepted. */
import type { SubmitDistributedBody } from "@resontech/contracts/http-tasks";
import type { JobImage } from "@resontech/contracts/coordinator-config";
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
import { imagesNamed, readScriptFiles, scriptPlaces } from "../command/script-files.ts";
import type { DistributedJobSpec } from "./distributed.ts";
import { rankPlaces } from "./rank-places.ts";

/** A script that never names it commits nothing. */
const CHECKPOINTS = "RESONTECH_CHECKPOINT_DIR";

/** @throws ApiError with the code of the first thing found wrong */
export async function validateDistributed(
  deps: ValidationDeps,
  bucket: string,
  body: SubmitDistributedBody,
): Promise<ValidatedTask> {
  const name = taskName(body.name);
  const places = scriptPlaces(body);
  if (!places.script.endsWith(".py"))
    throw new ApiError("validation_failed", "body.scriptPath does not end in .py");

  const [workers, catalogue] = [deps.workers(), deps.catalogue()];
  const { members, ...ranks } = rankPlaces(body, workers, catalogue);
  const asked = { ...body, ...ranks };
  const selection = selectWorkers(asked, members, workers, catalogue);
  const images = chooseImages(selection, imagesNamed(body.imageProfile, deps.images), workers, {
    hasHub: true,
    judge: requireTorch,
  });

  const { file, text, inputs, inputBytes, hasKeyInScript, warnings } = await readScriptFiles(
    deps,
    bucket,
    places,
  );
  const isResumable = text.includes(CHECKPOINTS);
  const spec: DistributedJobSpec = {
    ...{ script: file, arguments: body.arguments ?? [], environment: body.environment ?? {} },
    ...{ ranks: body.workers, strategy: body.strategy ?? "ddp" },
    ...askSpecOfBody(asked),
  };
  const slug = slugOf(name);
  return {
    kind: "distributed",
    spec,
    ...{ name, slug, bucket, outputRoot: `jobs/${slug}`, selection, ...asKept(images) },
    inputs,
    onlyMine: body.onlyMineWorkers ?? false,
    estimatedMemoryMb: body.estimatedMemoryMb ?? null,
    timeLimitMs: body.timeLimitMinutes === undefined ? null : body.timeLimitMinutes * 60_000,
    ...{ jobClass: body.class ?? null, isPreemptible: body.preemptible ?? null },
    ...{ numRounds: null, firstRound: 0, minClients: members, resumable: isResumable },
    warnings: [
      ...warnings,
      ...(isResumable
        ? []
        : [
            `After a fault the job would start again at its beginning: ${file} names no ${CHECKPOINTS}.`,
          ]),
    ],
    // All of them read all of it.
    shardUncompressedBytes: Array.from({ length: members }, () => inputBytes),
    hasKeyInScript,
  };
}

/** @throws ApiError requirement_unavailable */
function requireTorch({ packages, profile }: JobImage): void {
  if (packages["torch"] === undefined)
    throw new ApiError("requirement_unavailable", `the image ${profile} has no torch`);
}
