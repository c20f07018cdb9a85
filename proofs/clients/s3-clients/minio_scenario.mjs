// MinIO's JavaScript client through the S3 door: `folder-of-module port bucket big-file over-quota-bytes`; prints one word for each step that held.
import assert from "node:assert";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

const [folder = "", port, bucket = "", bigFile = "", over] = process.argv.slice(2);
const { Client } = createRequire(join(folder, "x.js"))("minio");
/** It asks for the region of the bucket, as it is told none. */
const client = (secretKey) =>
  new Client({
    ...{
      endPoint: "localhost",
      port: Number(port),
      useSSL: true,
      pathStyle: true,
      partSize: 8 * 1024 ** 2,
    },
    ...{ accessKey: process.env.AWS_ACCESS_KEY_ID, secretKey },
  });
const s3 = client(process.env.AWS_SECRET_ACCESS_KEY);
const all = async (stream) => Buffer.concat(await stream.toArray());
const refused = (code, call) => assert.rejects(call, (error) => error.code === code);

assert.deepEqual(
  (await s3.listBuckets()).map(({ name }) => name),
  [bucket],
);
console.log("buckets");
assert.equal(await s3.bucketExists(bucket), true);
await refused("BucketAlreadyOwnedByYou", s3.makeBucket(bucket, "garage"));
console.log("own-bucket");
const key = "data/a b/ü+.txt";
await s3.putObject(bucket, key, Buffer.from("hello"), 5, { "X-Amz-Meta-Who": "me" });
assert.equal((await all(await s3.getObject(bucket, key))).toString(), "hello");
assert.equal((await s3.statObject(bucket, key)).metaData.who, "me");
await s3.setObjectTagging(bucket, key, { kind: "test" });
console.log("small");
await s3.fPutObject(bucket, "data/big", bigFile);
assert.ok((await all(await s3.getObject(bucket, "data/big"))).equals(readFileSync(bigFile)));
console.log("parts");
await s3.copyObject(bucket, "data/copy", `/${bucket}/data/big`);
const listed = await s3.listObjectsV2(bucket, "data/", true).toArray();
assert.deepEqual(listed.map(({ name }) => name).sort(), [key, "data/big", "data/copy"].sort());
console.log("copy");
await s3.removeObjects(bucket, [key, "data/copy"]);
await s3.removeObject(bucket, "data/big");
assert.equal((await s3.listObjectsV2(bucket, "data/", true).toArray()).length, 0);
console.log("delete");
await refused(
  "SignatureDoesNotMatch",
  client("x".repeat(40)).putObject(bucket, "x", Buffer.alloc(5_000_000)),
);
await refused("QuotaExceeded", s3.putObject(bucket, "x", Buffer.alloc(Number(over))));
console.log("refusals");
