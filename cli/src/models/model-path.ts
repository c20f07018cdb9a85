import { DEFAULT_REVISION } from "@resontech/contracts/http-models";
import { UsageError } from "../cli-error.ts";

/** Where the API has `NAME/NAME@REVISION`; without a revision the one that clients ask for. @throws CliError model_name_invalid */
export function pathOfModel(models: string, model: string): string {
  const [, organisation, name, revision = DEFAULT_REVISION] =
    /^([^/@]+)\/([^/@]+)(?:@([^/@]+))?$/.exec(model) ?? [];
  if (organisation === undefined || name === undefined)
    throw new UsageError(
      "model_name_invalid",
      `${model} is no model's name`,
      "Write it as NAME/NAME or NAME/NAME@REVISION; `resontech models ls` shows them.",
    );
  return [models, ...[organisation, name, revision].map(encodeURIComponent)].join("/");
}
