/** Whether two people agreed to an image. Pure. */
import { ApiError } from "../../api-error.ts";
import type { Approval } from "../../approvals/approval-store.ts";

/** Whoever agreed may have changed their mind by then. */
const LIFE_MS = 30 * 24 * 3_600_000;

/**
 * @param now Unix milliseconds
 * @throws ApiError not_found, approval_required, image_digest_differs
 */
export function requireApprovedImage(
  approval: Pick<Approval, "id" | "what" | "state" | "decidedAt"> | null,
  { name, digest }: { name: string; digest: string },
  now: number,
): void {
  if (approval === null || approval.what.kind !== "image")
    throw new ApiError("not_found", "there is no such request for an image");
  const { id, what, state, decidedAt } = approval;
  if (state !== "approved" || decidedAt === null)
    throw new ApiError("approval_required", `the request ${id} is ${state}, not approved`);
  if (now - decidedAt > LIFE_MS)
    throw new ApiError("approval_required", `the request ${id} was approved over 30 days ago`);
  if (what.digest !== digest)
    throw new ApiError("image_digest_differs", `it is ${digest}, and ${id} is for ${what.digest}`);
  if (what.name !== name)
    throw new ApiError("approval_required", `the request ${id} is for the name ${what.name}`);
}
