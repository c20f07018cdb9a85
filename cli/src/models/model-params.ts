import { DEFAULT_REVISION } from "@resontech/contracts/http-models";
import { UsageError } from "../cli-error.ts";

/** Splits `NAME/NAME@REVISION` as a path of the API names it; without a revision it is the one that clients ask for. @throws CliError model_name_invalid */
export function paramsOfModel(
  written: string,
): Record<"organisation" | "model" | "revision", string> {
  const [, organisation, model, revision = DEFAULT_REVISION] =
    /^([^/@]+)\/([^/@]+)(?:@([^/@]+))?$/.exec(written) ?? [];
  if (organisation === undefined || model === undefined)
    throw new UsageError(
      "model_name_invalid",
      `${written} is no model's name`,
      "Write it as NAME/NAME or NAME/NAME@REVISION; `resontech models ls` shows them.",
    );
  return { organisation, model, revision };
}
