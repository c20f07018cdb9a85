/** A canary stands in every field of every operation at the S3 door that a caller may write, and in no leaf. */
import { createHash } from "node:crypto";
import t from "tap";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import type { S3RequestOptions } from "@resontech/coordinator/s3-transport";
import { OPERATIONS, type Operation } from "../src/decisions/operations.ts";
import { GRANTED_FIELDS } from "../src/decisions/request-fields.ts";
import { RunningFront } from "./helper/running-front.ts";

const CANARY = "canary7f3a";
const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const transport = front.transportOf(user.keys);
/** What S3 and HTTP let a caller say of himself and of an object. */
const HEADERS = {
  ...{
    "user-agent": CANARY,
    referer: `https://${CANARY}/`,
    "x-forwarded-for": CANARY,
    from: CANARY,
  },
  ...{ "content-type": `text/${CANARY}`, "x-request-id": CANARY },
  ...{
    "content-disposition": `attachment; filename=${CANARY}`,
    "cache-control": CANARY,
    "content-language": CANARY,
  },
};
const METADATA = { "x-amz-meta-name": CANARY, [`x-amz-meta-${CANARY}`]: "x" };
const PATH = [user.bucket, `jobs/${CANARY}/one`];
type Sent = Omit<S3RequestOptions, "headers"> & { headers?: Record<string, string> };
/** Metadata goes where the door takes it. @param name of the operation */
const send = async (name: string, options: Sent): Promise<number> => {
  const more = GRANTED_FIELDS[name]?.includes("x-amz-meta-*") === true ? METADATA : {};
  return await transport
    .send({ ...options, headers: { ...HEADERS, ...more, ...options.headers } })
    .then(
      ({ status }) => status,
      (error: { status?: number }) => error.status ?? 0,
    );
};
const withMd5 = (body: string): Pick<Sent, "body" | "headers"> => ({
  body,
  headers: { "content-md5": createHash("md5").update(body).digest("base64") },
});
const query = (name: string, more: Record<string, string> = {}): Record<string, string> => ({
  [name]: "",
  ...more,
});
const PAGE = { prefix: CANARY, delimiter: CANARY };
const DELETIONS = `<Delete><Object><Key>${CANARY}</Key></Object><Object><Key>jobs/${CANARY}</Key><VersionId>${CANARY}</VersionId></Object></Delete>`;
const NUMBERS: Record<string, string> = {
  ...{ partNumber: "1", "list-type": "2" },
  ...{ "encoding-type": "url", "fetch-owner": "true" },
};
const PLACES = { service: [], bucket: [user.bucket], object: PATH };

function requestFor({ method, level, selectors, optional, copies, body }: Operation): Sent {
  const parameters = [...selectors, ...optional].map((name) => [name, NUMBERS[name] ?? CANARY]);
  return {
    ...{ method, path: PLACES[level], query: Object.fromEntries(parameters) },
    ...(body === "none" ? {} : withMd5(`<${CANARY}/>`)),
    ...(copies
      ? { headers: { "x-amz-copy-source": `${user.bucket}/${CANARY}?versionId=${CANARY}` } }
      : {}),
  };
}

t.test("no leaf holds what a caller of the S3 door wrote", async (t) => {
  const good: Record<string, Sent> = {
    PutObject: { method: "PUT", path: PATH, body: "x" },
    GetObject: {
      method: "GET",
      path: PATH,
      query: { "response-content-disposition": CANARY, "response-content-type": CANARY },
    },
    HeadObject: { method: "HEAD", path: PATH },
    CopyObject: {
      method: "PUT",
      path: [user.bucket, `to/${CANARY}`],
      headers: { "x-amz-copy-source": PATH.join("/") },
    },
    CreateMultipartUpload: { method: "POST", path: PATH, query: query("uploads") },
    ListObjects: { method: "GET", path: [user.bucket], query: { ...PAGE, marker: CANARY } },
    ListObjectsV2: {
      method: "GET",
      path: [user.bucket],
      query: { ...PAGE, "list-type": "2", "start-after": CANARY },
    },
    DeleteObjects: {
      method: "POST",
      path: [user.bucket],
      query: query("delete"),
      ...withMd5(DELETIONS),
    },
    DeleteObject: { method: "DELETE", path: PATH },
  };
  const { length } = await front.leaves();
  for (const [name, options] of Object.entries(good)) {
    const status = await send(name, options);
    t.ok(status >= 200 && status < 300, `${name}: ${status}`);
  }
  const url = new URL(
    await transport.presign("GET", PATH, { "response-content-type": CANARY }, 60),
  );
  t.equal(
    (
      await fetchWithCa(front.caPem, url.href, {
        // Beside the signature alone: the engine sees no cookie.
        headers: { "user-agent": CANARY, cookie: `a=${CANARY}` },
      })
    ).status,
    404,
  );
  const served = (await front.leaves())
    .slice(length)
    .filter(({ actor }) => actor.sub === user.userId);
  t.ok(served.length >= Object.keys(good).length, `${served.length} leaves of what was served`);

  // Every operation of the door, with the canary wherever it may say something; most are refused by what is not there.
  for (const one of OPERATIONS) await send(one.name, requestFor(one));
  await send("PutObject", {
    method: "PUT",
    path: PATH,
    body: "x",
    headers: { "x-amz-tagging": `${CANARY}=${CANARY}` },
  });
  for (const source of [
    CANARY,
    `${user.bucket}/${CANARY}?versionId=${CANARY}`,
    `/${CANARY}/${CANARY}`,
  ])
    await send("CopyObject", {
      ...{ method: "PUT", path: PATH },
      headers: { "x-amz-copy-source": source },
    });
  const stranger = front.transportOf({ accessKeyId: CANARY, secretAccessKey: CANARY });
  await t.rejects(stranger.send({ method: "PUT", path: PATH, headers: HEADERS, body: "x" }), {
    name: "S3ResponseError",
    status: 403,
  });
  const anonymous = await fetchWithCa(front.caPem, `${front.endpoint}/${CANARY}?${CANARY}`, {
    headers: { authorization: `AWS ${CANARY}:${CANARY}`, "user-agent": CANARY },
  });
  t.ok(anonymous.status >= 400);

  const leaves = await front.leaves();
  const text = JSON.stringify(leaves);
  const actions = new Set(leaves.slice(length).map(({ action }) => action));
  // A part belongs to its upload, whose opening and end are recorded.
  const recorded = OPERATIONS.filter(({ trace }) => trace.kind !== "part").map(
    ({ name }) => `S3 ${name}`,
  );
  t.same(
    recorded.filter((action) => !actions.has(action)),
    [],
    "every operation has its leaf",
  );
  t.notMatch(text, /canary/i, "neither this one nor that of the buckets' names");
  t.notOk(
    text.includes(Buffer.from(CANARY).toString("base64").slice(0, 12)),
    "nor in another spelling",
  );
  t.notOk(text.includes(Buffer.from(CANARY).toString("hex")));
});
