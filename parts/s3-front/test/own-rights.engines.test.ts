/** What a user's own key may do in the own bucket, and what it may not. */
import { createHash } from "node:crypto";
import { AwsV4Signer } from "aws4fetch";
import t from "tap";
import { S3ResponseError, type S3Transport } from "@resontech/coordinator/s3-transport";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
type Request = Parameters<S3Transport["send"]>[0];

async function answerOf(
  transport: S3Transport,
  request: Request,
): Promise<{ status: number; code: string; body: string }> {
  try {
    const { status, body } = await transport.send(request);
    return { status, code: "", body: body.toString() };
  } catch (error) {
    if (error instanceof S3ResponseError)
      return { status: error.status, code: error.code, body: error.message };
    throw error;
  }
}

/** @returns code by key; `ok` for those that are gone */
async function deleteAll(
  transport: S3Transport,
  bucket: string,
  keys: readonly string[],
): Promise<Record<string, string>> {
  const objects = keys.map((key) => `<Object><Key>${key}</Key></Object>`).join("");
  const body = `<Delete>${objects}</Delete>`;
  const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
  const answer = await answerOf(transport, {
    method: "POST",
    path: [bucket],
    query: { delete: "" },
    headers,
    body,
  });
  t.equal(answer.status, 200);
  const read = (kind: string): [string, string][] =>
    [...answer.body.matchAll(new RegExp(`<${kind}>(.*?)</${kind}>`, "gs"))].map(([, text = ""]) => [
      /<Key>(.*?)<\/Key>/.exec(text)?.[1] ?? "",
      /<Code>(.*?)<\/Code>/.exec(text)?.[1] ?? "ok",
    ]);
  return Object.fromEntries([...read("Deleted"), ...read("Error")]);
}

t.test(
  "what the platform writes, a user's key does not, in any way; outputs of a job that is over may be deleted",
  async (t) => {
    const user = await front.addUser();
    const own = front.transportOf(user.keys);
    const [running, over] = [
      front.coordinator.addJob(user, "jobs/runs", "RUNNING"),
      front.coordinator.addJob(user, "jobs/was", "SUCCEEDED"),
    ];
    const store = front.storeOf(user);
    await store.put(user.bucket, "source", "x", "text/plain");
    const refused = { status: 403, code: "AccessDenied" };
    for (const folder of [
      "jobs/runs/model_out",
      "jobs/was/files_out/logs",
      "jobs/was/model_out",
      // There is no such job, and may be one later.
      "jobs/to-come/model_out",
      "jobs/deep/er/files_out",
      `logs/${running}`,
      "logs",
      "ckpt/x",
    ]) {
      const path = [user.bucket, `${folder}/planted`];
      await front.store.put(user.bucket, `${folder}/there`, "weights", "text/plain");
      const uploadId = await front.store.createUpload(
        user.bucket,
        `${folder}/planted`,
        "text/plain",
      );
      const writes: [string, Request][] = [
        ["PutObject", { method: "PUT", path, body: "x" }],
        ["a folder's marker", { method: "PUT", path: [user.bucket, `${folder}/`], body: "" }],
        [
          "CopyObject",
          { method: "PUT", path, headers: { "x-amz-copy-source": `/${user.bucket}/source` } },
        ],
        ["CreateMultipartUpload", { method: "POST", path, query: { uploads: "" } }],
        ["UploadPart", { method: "PUT", path, query: { uploadId, partNumber: "1" }, body: "x" }],
        [
          "CompleteMultipartUpload",
          { method: "POST", path, query: { uploadId }, body: "<CompleteMultipartUpload/>" },
        ],
        [
          "PutObjectTagging",
          {
            method: "PUT",
            path: [user.bucket, `${folder}/there`],
            query: { tagging: "" },
            body: "<Tagging/>",
          },
        ],
      ];
      for (const [what, request] of writes)
        t.match(await answerOf(own, request), refused, `${what} in ${folder}`);
      t.equal(
        (await answerOf(own, { method: "GET", path: [user.bucket, `${folder}/there`] })).status,
        200,
        `reading ${folder}`,
      );
    }
    for (const key of [
      "data/model_out/x",
      "model_out/x",
      "jobs/runs/logs",
      "jobs/runs/model_outs/x",
      "jobs/runs/scripts/x",
    ])
      t.equal(
        (await answerOf(own, { method: "PUT", path: [user.bucket, key], body: "x" })).status,
        200,
        `${key} is the user's`,
      );
    t.match(
      (await front.leaves()).find(
        ({ type, detail }) => type === "data.object.refused" && detail?.["claimed"] === user.userId,
      ),
      {
        outcome: { code: "AccessDenied", status: 403 },
        decision: { effect: "deny", policy_ids: ["platform-folders"] },
      },
    );

    t.match(
      await answerOf(own, { method: "DELETE", path: [user.bucket, "jobs/runs/model_out/there"] }),
      refused,
    );
    t.match(
      await answerOf(own, { method: "DELETE", path: [user.bucket, `logs/${running}/there`] }),
      refused,
    );
    const { length } = await front.leaves();
    t.equal(
      (await answerOf(own, { method: "DELETE", path: [user.bucket, "jobs/was/model_out/there"] }))
        .status,
      204,
    );
    t.same(
      await deleteAll(own, user.bucket, [
        "source",
        "jobs/runs/model_out/there",
        "jobs/was/files_out/logs/there",
      ]),
      {
        source: "ok",
        "jobs/runs/model_out/there": "AccessDenied",
        "jobs/was/files_out/logs/there": "ok",
      },
    );
    t.ok(await store.stat(user.bucket, "jobs/runs/model_out/there"));
    const leaves = (await front.leaves()).slice(length);
    const [deletion] = leaves.filter(({ type }) => type === "data.object.delete");
    t.match(deletion, { detail: { job: over } }, "it is recorded as that of the job");
    t.match(
      leaves.filter(({ type }) => type === "data.object.delete.ended"),
      [
        { outcome: { code: "ok" }, detail: { job: undefined } },
        { outcome: { code: "AccessDenied" }, detail: { job: running } },
        { outcome: { code: "ok" }, detail: { job: over } },
      ],
    );
    t.match(
      leaves.findLast(({ type }) => type === "data.bucket.delete"),
      { phase: "failed", outcome: { code: "partial" } },
    );
  },
);

t.test("one bad key in a request for several deletions fails alone", async (t) => {
  const user = await front.addUser();
  const other = await front.addUser();
  await front.storeOf(other).put(other.bucket, "theirs", "x", "text/plain");
  await front.storeOf(user).put(user.bucket, "a", "x", "text/plain");
  await front.storeOf(user).put(user.bucket, "b", "x", "text/plain");
  const bad = [`../${other.bucket}/theirs`, "a/../b", "x//y", ".sgwtmp/x", "y".repeat(256)];
  const codes = await deleteAll(front.transportOf(user.keys), user.bucket, ["a", ...bad]);
  t.same(codes, { a: "ok", ...Object.fromEntries(bad.map((key) => [key, "AccessDenied"])) });
  t.ok(await front.storeOf(other).stat(other.bucket, "theirs"), "nothing of anybody else's went");
  t.ok(await front.storeOf(user).stat(user.bucket, "b"));
  t.equal(await front.storeOf(user).stat(user.bucket, "a"), null);
  const raw = new RawConnection(front);
  const headers = await signedHeaders(front, user.keys, "DELETE", `/${user.bucket}/b`);
  raw.socket.write(
    headText(`DELETE /${user.bucket}/b`, {
      ...headers,
      "rt-refused-objects": "0",
      "rt-proven": "x",
    }),
  );
  t.notMatch(
    await raw.until(/\r\n\r\n/),
    /rt-/i,
    "what front and engine tell each other is nobody else's",
  );
  raw.close();
});

t.test(
  "the own bucket is listed and known as one's own; tags and attributes are the owner's",
  async (t) => {
    const user = await front.addUser();
    const own = front.transportOf(user.keys);
    const names = async (query: Record<string, string>) =>
      [
        ...(await answerOf(own, { method: "GET", path: [], query })).body.matchAll(
          /<Name>(.*?)<\/Name>/g,
        ),
      ].map(([, name]) => name);
    t.same(await names({}), [user.bucket]);
    t.same(await names({ prefix: "nobody" }), []);
    const wrong = front.transportOf({ ...user.keys, secretAccessKey: "wrong" });
    t.match(await answerOf(wrong, { method: "GET", path: [] }), {
      status: 403,
      code: "SignatureDoesNotMatch",
    });
    t.match(await answerOf(own, { method: "PUT", path: [user.bucket] }), {
      status: 409,
      code: "BucketAlreadyOwnedByYou",
    });
    t.match(await answerOf(wrong, { method: "PUT", path: [user.bucket] }), {
      status: 403,
      code: "SignatureDoesNotMatch",
    });
    t.match(await answerOf(own, { method: "PUT", path: ["of-nobody"] }), {
      status: 403,
      code: "AccessDenied",
    });
    const path = [user.bucket, "x"];
    await own.send({ method: "PUT", path, body: "hello", headers: { "x-amz-tagging": "a=1" } });
    const tags = "<Tagging><TagSet><Tag><Key>b</Key><Value>2</Value></Tag></TagSet></Tagging>";
    t.match(
      (await answerOf(own, { method: "GET", path, query: { tagging: "" } })).body,
      /<Key>a<\/Key><Value>1<\/Value>/,
    );
    t.equal(
      (await answerOf(own, { method: "PUT", path, query: { tagging: "" }, body: tags })).status,
      200,
    );
    t.match(
      (await answerOf(own, { method: "GET", path, query: { tagging: "" } })).body,
      /<Key>b<\/Key><Value>2<\/Value>/,
    );
    t.equal((await answerOf(own, { method: "DELETE", path, query: { tagging: "" } })).status, 204);
    const attributes = {
      method: "GET",
      path,
      query: { attributes: "" },
      headers: { "x-amz-object-attributes": "ObjectSize" },
    } as const;
    t.match((await answerOf(own, attributes)).body, /<ObjectSize>5<\/ObjectSize>/);
  },
);

t.test("a URL is good from its date on, and not before", async (t) => {
  const user = await front.addUser();
  await front.storeOf(user).put(user.bucket, "x", "x", "text/plain");
  const at = async (minutes: number): Promise<number> => {
    const datetime = new Date(Date.now() + minutes * 60_000)
      .toISOString()
      .replaceAll(/[-:]|\.\d+/g, "");
    const url = `${front.endpoint}/${user.bucket}/x?X-Amz-Expires=3600`;
    const signer = new AwsV4Signer({
      method: "GET",
      url,
      service: "s3",
      region: "garage",
      signQuery: true,
      datetime,
      ...user.keys,
    });
    return (await fetchWithCa(front.caPem, (await signer.sign()).url.href)).status;
  };
  t.equal(await at(-30), 200);
  t.equal(await at(14), 200, "clocks differ");
  t.equal(await at(16), 403);
  t.equal(await at(24 * 60), 403);
});

t.test("how an upload came is not what its object is", async (t) => {
  const user = await front.addUser();
  const own = front.transportOf(user.keys);
  for (const [sent, kept] of [
    ["aws-chunked", undefined],
    ["gzip,aws-chunked", "gzip"],
    ["gzip", "gzip"],
  ] as const) {
    await own.send({
      method: "PUT",
      path: [user.bucket, "x"],
      body: "x",
      headers: { "content-encoding": sent },
    });
    for (const method of ["GET", "HEAD"] as const)
      t.equal(
        (await own.send({ method, path: [user.bucket, "x"] })).headers["content-encoding"],
        kept,
        `${method} ${sent}`,
      );
  }
});

t.test("whoever names the bucket in the host's name is told how to name it", async (t) => {
  const user = await front.addUser();
  for (const [method, path] of [
    ["GET", "/?list-type=2"],
    ["PUT", "/key"],
    ["GET", "/a%20folder/key"],
  ] as const) {
    const raw = new RawConnection(front);
    raw.socket.write(
      headText(`${method} ${path}`, {
        host: `${user.bucket}.localhost:3900`,
        "content-length": "0",
      }),
    );
    const answer = await raw.until(/<\/Error>/);
    t.match(answer, /^HTTP\/1\.1 400[\s\S]*InvalidRequest/, `${method} ${path}`);
    t.match(answer, `https://localhost:3900/${user.bucket}/KEY`);
    raw.close();
  }
});
