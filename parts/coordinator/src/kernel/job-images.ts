import type { JobImage } from "@resontech/contracts/coordinator-config";
import type { DeviceFacts } from "@resontech/contracts/image-needs";
import type { MemberImage } from "./decisions/member-image.ts";
import type { JobRow, MemberRow, WorkerRow } from "./rows.ts";

/** What of an image the kernel keeps. */
export function memberImageOf({
  profile,
  reference,
  sizeBytes,
  needs,
  packages,
}: JobImage): MemberImage {
  return { profile, reference, sizeBytes, needs: needs ?? null, torch: packages["torch"] ?? null };
}

/** Reads what members run. Null where an older program accepted the job: all its members run its one image, wherever they are. */
export function imagesOf({ images }: Pick<JobRow, "images">): MemberImage[] | null {
  return images === null ? null : (JSON.parse(images) as MemberImage[]);
}

/** What the member runs: the image that was chosen for its worker. */
export function memberImageReference(
  job: Pick<JobRow, "image">,
  { image }: Pick<MemberRow, "image">,
): string {
  return (JSON.parse(image ?? job.image) as Pick<MemberImage, "reference">).reference;
}

export function deviceFactsOf({
  kind,
  vendor,
  architecture,
  driver,
}: Pick<WorkerRow, "kind" | "vendor" | "architecture" | "driver">): DeviceFacts {
  return {
    kind,
    vendor: vendor ?? undefined,
    architecture: architecture ?? undefined,
    driver: driver ?? undefined,
  };
}
