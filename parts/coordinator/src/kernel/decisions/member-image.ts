/** Which of a job's images a member runs. Pure. */
import { type DeviceFacts, type ImageNeeds, whyUnfit } from "@resontech/contracts/image-needs";

/** What of a job image the kernel keeps. */
export type MemberImage = {
  profile: string;
  /** `<registry>/<repository>@sha256:<digest>` */
  reference: string;
  sizeBytes: number;
  /** Null: it runs on processors. */
  needs: ImageNeeds | null;
  /** Version of torch inside; null where it has none. */
  torch: string | null;
};

/** The first of the job's images that runs on the worker; null while none does. */
export function imageFor<T extends Pick<MemberImage, "needs">>(
  images: readonly T[],
  worker: DeviceFacts,
): T | null {
  return images.find(({ needs }) => whyUnfit(needs, worker) === null) ?? null;
}

/** The image of a member that holds no device: one for processors, and where the job has none, any. */
export function imageOfHub<T extends Pick<MemberImage, "needs">>(images: readonly T[]): T {
  return images.find(({ needs }) => needs === null) ?? images[0]!;
}

/** Why no image runs on the worker, as an end of "n workers …"; null when one does. The image that asks for least says why. */
export function whyNoImage(
  images: readonly Pick<MemberImage, "needs">[],
  worker: DeviceFacts,
): string | null {
  if (imageFor(images, worker) !== null) return null;
  const needs = images.flatMap((image) => image.needs ?? []);
  if (worker.kind === "cpu") return "without an accelerator, which the job's images need";
  const ofVendor = needs.filter(({ vendor }) => vendor === worker.vendor);
  if (ofVendor.length === 0) return `of a vendor (${worker.vendor}) that no image is for`;
  const reasons = ofVendor.map((need) => whyUnfit(need, worker) ?? "");
  // An image that only the driver keeps away names what an operator can change.
  return reasons.findLast((why) => why.startsWith("whose driver")) ?? reasons.at(-1)!;
}
