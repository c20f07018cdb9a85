import type { Workstation } from "./workstation.ts";

const SCRIPT = `
import json, os, boto3
s3 = boto3.client("s3", endpoint_url=os.environ["RESON_S3_ENDPOINT"], region_name="us-east-1",
    aws_access_key_id=os.environ["RESON_S3_ACCESS_KEY_ID"], aws_secret_access_key=os.environ["RESON_S3_SECRET_ACCESS_KEY"])
uploads = s3.list_multipart_uploads(Bucket=os.environ["RESON_S3_BUCKET"])
print(json.dumps([upload["Key"] for upload in uploads.get("Uploads", [])]))
`;

/** Multipart uploads that are still open in the user's bucket, by key: asked as the user, of the S3 engine. */
export async function openUploads(workstation: Workstation): Promise<string[]> {
  const keys = JSON.parse((await workstation.python(["-c", SCRIPT])).trim()) as string[];
  return keys.map((key) => `open upload ${key}`);
}
