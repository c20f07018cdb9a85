import { createHash } from "node:crypto";

/**
 * What members may do in the bucket of their project. The bucket belongs to the engine's admin, so this policy is all that they have:
 * read, write and list, but never delete a version (a job's inputs can't change under it), touch policy or versioning,
 * or abort the platform's uploads.
 */
const ALLOWED_ON_BUCKET = [
  "s3:ListBucket",
  "s3:ListBucketVersions",
  "s3:ListBucketMultipartUploads",
  "s3:GetBucketLocation",
  "s3:GetBucketVersioning",
];
const ALLOWED_ON_OBJECTS = [
  "s3:GetObject",
  "s3:GetObjectVersion",
  "s3:GetObjectAttributes",
  "s3:GetObjectVersionAttributes",
  "s3:GetObjectTagging",
  "s3:GetObjectVersionTagging",
  "s3:PutObjectTagging",
  "s3:PutObjectVersionTagging",
  "s3:DeleteObjectTagging",
  "s3:DeleteObjectVersionTagging",
  "s3:PutObject",
  "s3:DeleteObject",
  "s3:AbortMultipartUpload",
  "s3:ListMultipartUploadParts",
];
/** Folders whose objects the platform alone writes, at any depth. */
export const PLATFORM_FOLDERS = ["model_out", "files_out", "logs", "ckpt"] as const;

/** @param accessKeyIds of all members who have a pair; one at least */
export function bucketPolicy(bucket: string, accessKeyIds: readonly string[]): object {
  const bucketArn = `arn:aws:s3:::${bucket}`;
  const principal = { AWS: accessKeyIds };
  return {
    Version: "2012-10-17",
    Statement: [
      { Effect: "Allow", Principal: principal, Action: ALLOWED_ON_BUCKET, Resource: bucketArn },
      {
        Effect: "Allow",
        Principal: principal,
        Action: ALLOWED_ON_OBJECTS,
        Resource: `${bucketArn}/*`,
      },
      {
        Effect: "Deny",
        Principal: principal,
        Action: ["s3:DeleteObjectVersion", "s3:BypassGovernanceRetention"],
        Resource: `${bucketArn}/*`,
      },
      {
        Effect: "Deny",
        Principal: principal,
        Action: [
          "s3:PutBucketPolicy",
          "s3:DeleteBucketPolicy",
          "s3:PutBucketVersioning",
          "s3:DeleteBucket",
        ],
        Resource: bucketArn,
      },
      {
        Effect: "Deny",
        Principal: principal,
        Action: ["s3:AbortMultipartUpload"],
        Resource: PLATFORM_FOLDERS.flatMap((folder) => [
          `${bucketArn}/${folder}/*`,
          `${bucketArn}/*/${folder}/*`,
        ]),
      },
    ],
  };
}

/** Names what {@link bucketPolicy} allows in this program: a bucket with another one has the rights of an older program. */
export const BUCKET_RIGHTS = createHash("sha256")
  .update(JSON.stringify(bucketPolicy("bucket", ["key"])))
  .digest("hex");
