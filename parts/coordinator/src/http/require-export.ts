import { isModelOutput, mayNeedApproval } from "@resontech/contracts/model-output";
import type { FastifyRequest } from "fastify";
import { ApiError } from "../api-error.ts";
import type { ReadHandle } from "../db/open-database.ts";
import { leavesByApproval, releasedVersions } from "../storage/export-grants.ts";
import { callerOfRequest } from "./authorization.ts";

export type ExportDeps = {
  read: ReadHandle;
  now: () => number;
  outputExport: "open" | "controlled";
};

/** The coordinator's signature passes the S3 front's own export control, so the control is here as well. @throws ApiError export_controlled */
export function requireExport(
  request: FastifyRequest,
  { read, now, outputExport }: ExportDeps,
  { bucket, key, versionId }: { bucket: string; key: string; versionId: string },
): void {
  const { userId } = callerOfRequest(request);
  const isHeld = outputExport === "controlled" && isModelOutput(key);
  const isApproved = () =>
    !leavesByApproval(read, bucket) ||
    releasedVersions(read, { bucket, key, userId }, now()).includes(versionId);
  if (isHeld) throw new ApiError("export_controlled", "this site controls what models leave");
  if (mayNeedApproval(key) && !isApproved())
    throw new ApiError("export_controlled", "outputs of this project leave by approval alone");
}
