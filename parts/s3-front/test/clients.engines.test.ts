import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import t from "tap";
import { clientPython } from "@resontech/house/client-venv";
import { RunningFront } from "./helper/running-front.ts";

const run = promisify(execFile);
const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const python = await clientPython("0.3.0");

// `when_supported` sends bodies in aws-chunked frames with a trailing checksum, `when_required` plain ones.
for (const style of ["default", "when_required", "when_supported"])
  t.test(`boto3 does all that it does with S3, checksums ${style}`, async (t) => {
    const { bucket, keys } = await front.addUser(50 * 1024 ** 2);
    const { stdout } = await run(
      python,
      [join(import.meta.dirname, "helper/boto_client.py"), front.endpoint, bucket, style],
      {
        env: {
          AWS_ACCESS_KEY_ID: keys.accessKeyId,
          AWS_SECRET_ACCESS_KEY: keys.secretAccessKey,
          AWS_CA_BUNDLE: front.ca.caFile,
        },
      },
    );
    t.same(JSON.parse(stdout), {
      get: "hellome",
      range: "ell",
      head: 5,
      multipart: true,
      list: ["a/big", "a/copy", "a/one"],
      versions: 1,
      presigned: "hello",
      presigned_put: 200,
      uploads: ["a/stale"],
      deleted: ["a/copy", "a/one"],
      missing: "NoSuchKey",
      policy: "AccessDenied",
      lifecycle: "NotImplemented",
      quota: "QuotaExceeded",
    });
  });
