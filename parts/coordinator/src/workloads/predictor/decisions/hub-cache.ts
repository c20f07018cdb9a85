/** Where files of the hub lie in a replica: in the layout of Hugging Face's cache, so that their libraries find them by name. Pure. */
import { DEFAULT_REVISION } from "@resontech/contracts/http-models";
import type { AcceptedInput } from "../../../kernel/accepted-task.ts";
import type { HubSnapshot, ModelObject } from "../model-sources.ts";

/** Value of `HF_HUB_CACHE`, below what a replica may only read. */
export const HUB_CACHE = "/app/model/hub";

/** Answers where the snapshot lies in the container. */
export function snapshotFolder({ name, commit }: Pick<HubSnapshot, "name" | "commit">): string {
  return `${HUB_CACHE}/models--${name.replaceAll("/", "--")}/snapshots/${commit}`;
}

/** @param isWanted of a file's path; null: all are, to be found by the model's name and revision, or by the name alone */
export function hubInputs(
  snapshot: HubSnapshot,
  isWanted: ((path: string) => boolean) | null,
): AcceptedInput[] {
  const { files, ref, revision } = snapshot;
  const folder = snapshotFolder(snapshot).slice("/app/".length);
  const refs = folder.replace(/snapshots\/[^/]+$/, "refs");
  const chosen = files.filter(({ path }) => isWanted?.(path) ?? true);
  return [
    ...chosen.map((file) => inputOf(file, `${folder}/${file.path}`)),
    ...(isWanted !== null
      ? []
      : [...new Set([revision, DEFAULT_REVISION])].map((name) => inputOf(ref, `${refs}/${name}`))),
  ];
}

function inputOf(object: ModelObject, target: string): AcceptedInput {
  const { bucket, key, versionId, etag, sizeBytes, sha256 } = object;
  return { kind: "model", bucket, key, versionId, etag, sizeBytes, sha256, target };
}
