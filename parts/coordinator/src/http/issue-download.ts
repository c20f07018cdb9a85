import { urlSha256 } from "@resontech/audit/producer";
import type { DownloadReply } from "@resontech/contracts/http-storage";
import type { FastifyRequest } from "fastify";
import type { Bucket } from "../identity/bucket-store.ts";
import type { ObjectStore, ObjectVersion } from "../storage/object-store.ts";
import { type ExportDeps, requireExport } from "./require-export.ts";

export type DownloadDeps = ExportDeps & { store: Pick<ObjectStore, "presignGet"> };

/** Long enough to begin; what has begun goes on. */
const URL_LIFE_S = 300;

/** A URL that reads one version from the object store itself. That it was given out is on record before anybody has it. @throws ApiError export_controlled */
export async function issueDownload(
  request: FastifyRequest,
  deps: DownloadDeps,
  bucket: Pick<Bucket, "name" | "logId">,
  { key, versionId, sizeBytes }: ObjectVersion,
): Promise<DownloadReply> {
  requireExport(request, deps, { bucket: bucket.name, key, versionId });
  const url = await deps.store.presignGet(bucket.name, key, versionId, URL_LIFE_S);
  await request.audit.fact({
    type: "data.download.issue",
    object: { path: `${bucket.name}/${key}` },
    detail: {
      ...{ bucket: bucket.logId, bytes: sizeBytes, ttl_s: URL_LIFE_S },
      url_sha256: urlSha256(url),
    },
  });
  const expiresAt = new Date(deps.now() + URL_LIFE_S * 1_000).toISOString();
  return { url, versionId, sizeBytes, expiresAt };
}
