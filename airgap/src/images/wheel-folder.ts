import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { ImageNeeds } from "@resontech/contracts/image-needs";
import { type Static, Type } from "typebox";
import { Value } from "typebox/value";
import type { StepCache } from "../cache/step-cache.ts";
import type { LockFile } from "../lock/lock-file.ts";
import { buildJobImage, packWheels } from "./job-image.ts";
import { digestFile } from "./layer.ts";

/** `image.json` beside the wheels: `{"profile":"fl-rocm","needs":{"vendor":"amd","leastDriver":"6.4","architectures":["gfx942"]}}`. */
const Description = Type.Object(
  {
    profile: Type.String({ pattern: "^fl-[a-z0-9]+(-[a-z0-9]+)*$", maxLength: 64 }),
    needs: ImageNeeds,
  },
  { additionalProperties: false },
);

/** A folder of wheels can't become an image; `message` says why. */
export class WheelFolderError extends Error {
  readonly code = "wheel_folder_invalid";
}

/**
 * An image of wheels that the builder was given: torch for ROCm and for Intel's devices is not on PyPI. The lock pins none of them; the release
 * names what is in the image, and its digest covers every byte.
 *
 * @param folder wheels for CPython 3.11 with all that they need beside the shared packages, and `image.json`
 * @throws WheelFolderError
 */
export async function buildWheelFolder(
  cache: StepCache,
  lock: LockFile,
  folder: string,
): Promise<string> {
  const { profile, needs } = describeFolder(folder);
  const names = readdirSync(folder)
    .filter((name) => name.endsWith(".whl"))
    .sort();
  if (!names.some((name) => name.startsWith("torch-")))
    throw new WheelFolderError(`${folder} has no wheel of torch`);
  const hash = createHash("sha256");
  for (const name of names) hash.update(`${name} ${await digestFile(join(folder, name))}\n`);
  const wheels = { id: hash.digest("hex"), files: names.map((name) => join(folder, name)) };
  const layer = await packWheels(cache, lock, `layer wheels of ${profile}`, [wheels]);
  return await buildJobImage(cache, lock, { profile, needs, layers: [layer], wheels: [wheels] });
}

function describeFolder(folder: string): Static<typeof Description> {
  const file = join(folder, "image.json");
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new WheelFolderError(`${file} can't be read: ${String(error)}`, { cause: error });
  }
  if (Value.Check(Description, value)) return value;
  const first = Value.Errors(Description, value)[0];
  throw new WheelFolderError(
    `${basename(file)} of ${folder}: ${first?.instancePath ?? ""} ${first?.message ?? "is not a description"}`,
  );
}
