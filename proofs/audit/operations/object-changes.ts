/** Everything that a user's own key can ask to be changed at the S3 door, with objects and uploads that are there for it. */
import { createHash } from "node:crypto";
import { type S3RequestOptions, S3ResponseError } from "@resontech/coordinator/s3-transport";
import type { Change, Said } from "./change.ts";
import type { FirstBucket } from "./first-bucket.ts";

type Asked = Omit<S3RequestOptions, "path">;

const TAGS = "<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
const VERSIONING = "<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>";
const PART = "part";

/** @param folder nobody else's */
export async function objectChanges(bucket: FirstBucket, folder: string): Promise<Change[]> {
  const at = (name: string): string => `${folder}/${name}`;
  const send = async (key: string | null, options: Asked) =>
    await bucket.s3.send({
      ...options,
      path: key === null ? [bucket.name] : [bucket.name, at(key)],
    });
  const make = async (key: string): Promise<string> =>
    String((await send(key, { method: "PUT", body: key })).headers["x-amz-version-id"]);
  const open = async (key: string): Promise<string> => {
    const { body } = await send(key, { method: "POST", query: { uploads: "" } });
    return /<UploadId>([^<]+)</.exec(body.toString("utf8"))?.[1] ?? "";
  };
  for (const key of ["copied", "deleted", "listed", "replaced"]) await make(key);
  const version = await make("version");
  const [parts, complete, abort] = [
    await open("parts"),
    await open("completed"),
    await open("aborted"),
  ];
  const first = await send("completed", {
    method: "PUT",
    query: { uploadId: complete, partNumber: "1" },
    body: PART,
  });
  const source = { "x-amz-copy-source": `${bucket.name}/${at("copied")}` };
  const list = `<Delete><Object><Key>${at("listed")}</Key></Object></Delete>`;
  const listed = { "content-md5": createHash("md5").update(list).digest("base64") };
  const part = `<Part><PartNumber>1</PartNumber><ETag>${String(first.headers.etag)}</ETag></Part>`;
  const whole = `<CompleteMultipartUpload>${part}</CompleteMultipartUpload>`;
  const signed = await bucket.s3.presign("PUT", [bucket.name, at("by-url")], {}, 600);

  const change = (name: string, key: string | null, options: Asked, served = 200): Change => ({
    name: `S3 ${name}`,
    ask: () => answerOf(send(key, options)),
    served,
  });
  return [
    change("PutObject", "new", { method: "PUT", body: "new" }),
    change("PutObject over another", "replaced", { method: "PUT", body: "other" }),
    {
      name: "S3 PutObject by URL",
      ask: async () => ({ ...(await bucket.put(signed, "new")), body: null }),
      served: 200,
    },
    change("CopyObject", "copy", { method: "PUT", headers: source }),
    change("DeleteObject", "deleted", { method: "DELETE" }, 204),
    change("DeleteObjects", null, {
      method: "POST",
      query: { delete: "" },
      body: list,
      headers: listed,
    }),
    change("CreateMultipartUpload", "opened", { method: "POST", query: { uploads: "" } }),
    change("CompleteMultipartUpload", "completed", {
      method: "POST",
      query: { uploadId: complete },
      body: whole,
    }),
    change(
      "AbortMultipartUpload",
      "aborted",
      { method: "DELETE", query: { uploadId: abort } },
      204,
    ),
    change("PutObjectTagging", "replaced", { method: "PUT", query: { tagging: "" }, body: TAGS }),
    change("DeleteObjectTagging", "replaced", { method: "DELETE", query: { tagging: "" } }, 204),
    // The engine grants none of these to users. The door asks the log before it asks the engine.
    change(
      "DeleteObject of a version",
      "version",
      { method: "DELETE", query: { versionId: version } },
      403,
    ),
    change(
      "PutBucketVersioning",
      null,
      { method: "PUT", query: { versioning: "" }, body: VERSIONING },
      403,
    ),
    change("PutBucketPolicy", null, { method: "PUT", query: { policy: "" }, body: "{}" }, 403),
    change("DeleteBucket", null, { method: "DELETE" }, 403),
    // Parts have no record of their own: they get in while the door takes auditd to be there. What comes before has told it
    // otherwise.
    change("UploadPart", "parts", {
      method: "PUT",
      query: { uploadId: parts, partNumber: "1" },
      body: PART,
    }),
    change("UploadPartCopy", "parts", {
      method: "PUT",
      query: { uploadId: parts, partNumber: "2" },
      headers: source,
    }),
  ];
}

/** An upload of its own for one part, sent while nothing else is. */
export async function onePart(
  bucket: FirstBucket,
  key: string,
): Promise<{ send: () => Promise<Said>; abort: () => Promise<void> }> {
  const path = [bucket.name, key];
  const { body } = await bucket.s3.send({ method: "POST", path, query: { uploads: "" } });
  const uploadId = /<UploadId>([^<]+)</.exec(body.toString("utf8"))?.[1] ?? "";
  return {
    send: () =>
      answerOf(
        bucket.s3.send({ method: "PUT", path, query: { uploadId, partNumber: "1" }, body: PART }),
      ),
    abort: async () => void (await bucket.s3.send({ method: "DELETE", path, query: { uploadId } })),
  };
}

async function answerOf(sent: Promise<{ status: number }>): Promise<Said> {
  try {
    return { status: (await sent).status, body: null };
  } catch (error) {
    if (!(error instanceof S3ResponseError)) throw error;
    return { status: error.status, body: error.code };
  }
}
