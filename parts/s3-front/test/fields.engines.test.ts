/** Operation × field on the real engine: whatever the table grants is seen to do its work. */
import { createHash, type BinaryToTextEncoding } from "node:crypto";
import { crc32 } from "node:zlib";
import t, { type Test } from "tap";
import { GRANTED_FIELDS } from "../src/decisions/request-fields.ts";
import { RunningFront } from "./helper/running-front.ts";
import { type Answered, type Ask, signedClient } from "./helper/signed-client.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const own = signedClient(front, user.keys);
const admin = signedClient(front, front.admin);
const locker = await front.addUser();
const [B, LOCKED] = [`/${user.bucket}`, `/${locker.bucket}`];
const OLD = "Thu, 01 Jan 2015 00:00:00 GMT";
const [FUTURE, WRONG] = ["2100-01-01T00:00:00Z", '"00000000000000000000000000000000"'];
const LOCK =
  "<ObjectLockConfiguration><ObjectLockEnabled>Enabled</ObjectLockEnabled></ObjectLockConfiguration>";
await admin({
  ...{ request: `PUT ${LOCKED}?object-lock`, body: LOCK },
  headers: { "content-md5": createHash("md5").update(LOCK).digest("base64") },
});

let count = 0;
type Client = typeof own;
async function made(body = "hello", headers = {}): Promise<{ path: string; etag: string }> {
  const path = `${B}/k${(count += 1)}`;
  const { headers: answered } = await own({ request: `PUT ${path}`, body, headers });
  return { path, etag: answered.get("etag") ?? "" };
}
async function upload(headers = {}, client: Client = own, bucket = B) {
  const path = `${bucket}/u${(count += 1)}`;
  const { body } = await client({ request: `POST ${path}?uploads`, headers });
  const uploadId = /<UploadId>(.+?)<\/UploadId>/.exec(body)?.[1] ?? "";
  return { path, query: `uploadId=${uploadId}`, body };
}
async function withPart(headers = {}) {
  const opened = await upload(headers);
  const sum = "x-amz-checksum-algorithm" in headers ? crcOf("hello") : null;
  const part = await own({
    ...{ request: `PUT ${opened.path}?partNumber=1&${opened.query}`, body: "hello" },
    headers: sum === null ? {} : { "x-amz-checksum-crc32": sum },
  });
  const checksum = sum === null ? "" : `<ChecksumCRC32>${sum}</ChecksumCRC32>`;
  return { ...opened, parts: listOf(part.headers.get("etag"), checksum) };
}
const listOf = (etag: string | null, more = ""): string =>
  `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag ?? ""}</ETag>${more}</Part></CompleteMultipartUpload>`;
const complete = ({ path, query, parts }: Awaited<ReturnType<typeof withPart>>, headers = {}) =>
  own({ request: `POST ${path}?${query}`, body: parts, headers });
const headOf = async (path: string, client: Client = own): Promise<Headers> =>
  (await client({ request: `HEAD ${path}` })).headers;
const statusOf = async (client: Client, ask: Ask): Promise<number> => (await client(ask)).status;
const copyOf = (source: string, headers = {}, path = `${B}/c${(count += 1)}`) =>
  own({ request: `PUT ${path}`, headers: { "x-amz-copy-source": source, ...headers } });

const DIGESTED: Record<string, [bytes: number, ofHello: string | null]> = Object.fromEntries([
  ...(["md5", "sha1", "sha256", "sha512"] as const).map((name) => {
    const hash = createHash(name).update("hello");
    const encoding: BinaryToTextEncoding = "base64";
    return [`x-amz-checksum-${name}`, [hash.copy().digest().length, hash.digest(encoding)]];
  }),
  ["content-md5", [16, createHash("md5").update("hello").digest("base64")]],
  ["x-amz-checksum-crc32", [4, crcOf("hello")]],
  ...[
    ["crc32c", 4],
    ["crc64nvme", 8],
    ["xxhash3", 8],
    ["xxhash64", 8],
    ["xxhash128", 16],
  ].map(([name, bytes]) => [`x-amz-checksum-${name}`, [bytes, null]]),
]);
function crcOf(text: string): string {
  const four = Buffer.alloc(4);
  four.writeUInt32BE(crc32(text));
  return four.toString("base64");
}

/** Requests with a body that a digest may come with. */
const BODIES: Record<string, () => Promise<Ask & { by: Client }>> = {
  CreateBucket: async () => ({ by: admin, request: "PUT /never-made" }),
  PutBucketPolicy: async () => ({ by: admin, request: `PUT ${LOCKED}?policy`, body: "{}" }),
  PutBucketTagging: async () => ({ by: admin, request: `PUT ${LOCKED}?tagging`, body: "<x/>" }),
  PutBucketOwnershipControls: async () => ({
    ...{ by: admin, request: `PUT ${LOCKED}?ownershipControls`, body: "<x/>" },
  }),
  PutBucketVersioning: async () => ({
    by: admin,
    request: `PUT ${LOCKED}?versioning`,
    body: "<x/>",
  }),
  PutObjectLockConfiguration: async () => ({
    ...{ by: admin, request: `PUT ${LOCKED}?object-lock`, body: "<x/>" },
  }),
  DeleteObjects: async () => ({
    ...{ by: own, request: `POST ${B}?delete` },
    body: "<Delete><Object><Key>a</Key></Object></Delete>",
  }),
  PutObject: async () => ({ by: own, request: `PUT ${B}/digested`, body: "hello" }),
  UploadPart: async () => {
    const { path, query } = await upload();
    return { by: own, request: `PUT ${path}?partNumber=1&${query}`, body: "hello" };
  },
  CompleteMultipartUpload: async () => {
    const { path, query, parts } = await withPart();
    return { by: own, request: `POST ${path}?${query}`, body: parts };
  },
  PutObjectTagging: async () => ({ by: own, request: `PUT ${B}/digested?tagging`, body: "<x/>" }),
  PutObjectRetention: async () => ({
    ...{ by: admin, request: `PUT ${LOCKED}/a?retention`, body: "<x/>" },
  }),
  PutObjectLegalHold: async () => ({
    ...{ by: admin, request: `PUT ${LOCKED}/a?legal-hold`, body: "<x/>" },
  }),
};

const TRAILED = `5\r\nhello\r\n0\r\nx-amz-checksum-crc32:${crcOf("hello")}\r\n\r\n`;
const streamed = (trailer: string, decoded = "5"): Record<string, string> => ({
  ...{ "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-trailer": trailer },
  ...{ "content-encoding": "aws-chunked", "x-amz-decoded-content-length": decoded },
});
const inFrames = async (t: Test, request: () => Promise<string>): Promise<void> => {
  const good = streamed("x-amz-checksum-crc32");
  const ask = async (headers: Record<string, string>, body: string): Promise<Answered> =>
    own({ request: await request(), headers, body });
  t.match(await ask(good, TRAILED), { status: 200 });
  t.match(await ask(good, TRAILED.replace(crcOf("hello"), "AAAAAQ==")), { status: 400 });
  t.match(await ask(streamed("x-amz-checksum-crc32", "4"), TRAILED), { status: 400 });
};
const partTarget = async (): Promise<string> => {
  const { path, query } = await upload();
  return `PUT ${path}?partNumber=1&${query}`;
};

type Show = (t: Test) => Promise<void>;
/** A condition that holds, and one that does not. */
async function decides(
  t: Test,
  name: string,
  run: (headers: Record<string, string>) => Promise<Answered>,
  [holds, fails]: [good: string, bad: string],
  refused = 412,
): Promise<void> {
  // The one that fails first: what it guards is still there.
  t.equal((await run({ [name]: fails })).status, refused, `${name}: ${fails}`);
  t.ok((await run({ [name]: holds })).status < 300, `${name}: ${holds}`);
}

const reading = (method: "GET" | "HEAD"): Record<string, Show> => ({
  "if-match": async (t) => {
    const { path, etag } = await made();
    const run = (headers: Record<string, string>) => own({ request: `${method} ${path}`, headers });
    await decides(t, "if-match", run, [etag, WRONG]);
    await decides(t, "if-match", run, [`${WRONG}, ${etag}`, `${WRONG}, W/${etag}`]);
    await decides(t, "if-match", run, ["*", WRONG]);
  },
  "if-none-match": async (t) => {
    const { path, etag } = await made();
    const run = (headers: Record<string, string>) => own({ request: `${method} ${path}`, headers });
    await decides(t, "if-none-match", run, [WRONG, etag], 304);
    await decides(t, "if-none-match", run, [`${WRONG}, "x"`, `${WRONG}, W/${etag}`], 304);
  },
  "if-modified-since": async (t) => {
    const { path } = await made();
    const now = (await headOf(path)).get("last-modified") ?? "";
    const run = (headers: Record<string, string>) => own({ request: `${method} ${path}`, headers });
    await decides(t, "if-modified-since", run, [OLD, now], 304);
  },
  "if-unmodified-since": async (t) => {
    const { path } = await made();
    const now = (await headOf(path)).get("last-modified") ?? "";
    const run = (headers: Record<string, string>) => own({ request: `${method} ${path}`, headers });
    await decides(t, "if-unmodified-since", run, [now, OLD]);
  },
  range: async (t) => {
    const { path } = await made();
    const { status, headers } = await own({
      ...{ request: `${method} ${path}`, headers: { range: "bytes=1-2" } },
    });
    t.match([status, headers.get("content-range")], [206, "bytes 1-2/5"]);
  },
  "x-amz-checksum-mode": async (t) => {
    const { path } = await made("hello", { "x-amz-checksum-crc32": crcOf("hello") });
    const asked = { request: `${method} ${path}`, headers: { "x-amz-checksum-mode": "ENABLED" } };
    t.equal((await own(asked)).headers.get("x-amz-checksum-crc32"), crcOf("hello"));
    t.equal((await own({ request: asked.request })).headers.get("x-amz-checksum-crc32"), null);
  },
});

const ofSource = (copy: (source: string, headers: object) => Promise<Answered>) => ({
  "x-amz-copy-source": async (t: Test) => {
    const { path } = await made();
    t.match(await copy(path, {}), { status: 200 });
    t.match(await copy(`${B}/nothing`, {}), { status: 404 });
  },
  ...Object.fromEntries(
    ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"].map((name) => [
      `x-amz-copy-source-${name}`,
      async (t: Test) => {
        const { path, etag } = await made();
        const now = (await headOf(path)).get("last-modified") ?? "";
        const values: Record<string, [string, string]> = {
          "if-match": [etag, WRONG],
          "if-none-match": [WRONG, etag],
          "if-modified-since": [OLD, now],
          "if-unmodified-since": [now, OLD],
        };
        const run = (headers: Record<string, string>) => copy(path, headers);
        await decides(t, `x-amz-copy-source-${name}`, run, values[name] ?? ["", ""]);
      },
    ]),
  ),
});

/** @param write another version at a path, under headers */
const writing = (
  write: (path: string, headers: Record<string, string>) => Promise<Answered>,
): Record<string, Show> => ({
  "if-match": async (t) => {
    const { path, etag } = await made("first");
    await decides(t, "if-match", (headers) => write(path, headers), [etag, WRONG]);
    t.not((await headOf(path)).get("etag"), etag, "it was written once");
    t.equal((await write(path, { "if-match": etag })).status, 412, "and not again");
  },
  "if-none-match": async (t) => {
    const { path, etag } = await made("first");
    t.equal((await write(path, { "if-none-match": "*" })).status, 412);
    t.equal((await headOf(path)).get("etag"), etag, "nothing was written over");
    await own({ request: `DELETE ${path}` });
    t.equal((await write(path, { "if-none-match": "*" })).status, 200, "of a deleted one");
    t.equal((await write(path, { "if-none-match": WRONG })).status, 501);
  },
});

const LOCKS: Record<string, string> = {
  "x-amz-object-lock-mode": "GOVERNANCE",
  "x-amz-object-lock-retain-until-date": FUTURE,
  "x-amz-object-lock-legal-hold": "ON",
};
/** @param write makes an object in the bucket with locks; null where no client may */
const keeping = (
  write: (headers: Record<string, string>) => Promise<Answered & { path: string }>,
  locked: ((headers: Record<string, string>) => Promise<string>) | null,
): Record<string, Show> => ({
  "x-amz-meta-*": async (t) => {
    const { path } = await write({ "x-amz-meta-of": "me" });
    t.equal((await headOf(path)).get("x-amz-meta-of"), "me");
  },
  "x-amz-tagging": async (t) => {
    const { path } = await write({ "x-amz-tagging": "a=1" });
    t.equal((await headOf(path)).get("x-amz-tagging-count"), "1");
  },
  ...Object.fromEntries(
    Object.keys(LOCKS).map((name) => [
      name,
      async (t: Test) => {
        if (locked === null)
          t.equal((await write(LOCKS)).status, 403, "the right to lock is asked for");
        else
          t.match((await headOf(await locked(LOCKS), admin)).get(name), LOCKS[name]?.slice(0, 19));
      },
    ]),
  ),
});

const SHOWN: Record<string, Record<string, Show>> = {
  CreateBucket: {
    "x-amz-object-ownership": async (t) => {
      const headers = { "x-amz-object-ownership": "BucketOwnerPreferred" };
      await admin({ request: "PUT /of-ownership", headers });
      t.match(await admin({ request: "GET /of-ownership?ownershipControls" }), {
        body: /BucketOwnerPreferred/,
      });
    },
    "x-amz-bucket-object-lock-enabled": async (t) => {
      const headers = { "x-amz-bucket-object-lock-enabled": "true" };
      await admin({ request: "PUT /of-locks", headers });
      t.match(await admin({ request: "GET /of-locks?object-lock" }), { body: /Enabled/ });
    },
  },
  DeleteObjects: {
    "x-amz-bypass-governance-retention": async (t) => {
      const path = await governed();
      const { headers } = await admin({ request: `HEAD ${path}` });
      const one = `<Object><Key>${path.slice(LOCKED.length + 1)}</Key><VersionId>${headers.get("x-amz-version-id") ?? ""}</VersionId></Object>`;
      const body = `<Delete>${one}</Delete>`;
      const sum = { "content-md5": createHash("md5").update(body).digest("base64") };
      const ask = { request: `POST ${LOCKED}?delete`, body };
      t.match(await admin({ ...ask, headers: sum }), { body: /<Error>/ });
      const bypass = { ...sum, "x-amz-bypass-governance-retention": "true" };
      t.match(await admin({ ...ask, headers: bypass }), { body: /<Deleted>/ });
    },
  },
  GetObject: {
    ...reading("GET"),
    "if-range": async (t) => {
      const { path, etag } = await made("first");
      const now = (await headOf(path)).get("last-modified") ?? "";
      for (const [condition, status, body] of [
        [etag, 206, "rst"],
        [now, 206, "rst"],
        [WRONG, 200, "first"],
        [OLD, 200, "first"],
        [`W/${etag}`, 200, "first"],
      ] as const)
        t.match(
          await own({
            ...{ request: `GET ${path}`, headers: { range: "bytes=2-", "if-range": condition } },
          }),
          { status, body },
          condition,
        );
    },
  },
  HeadObject: reading("HEAD"),
  GetObjectAttributes: {
    "x-amz-object-attributes": async (t) => {
      const { path } = await made();
      const headers = { "x-amz-object-attributes": "ObjectSize" };
      const { body } = await own({ request: `GET ${path}?attributes`, headers });
      t.match(body, /<ObjectSize>5</);
      t.notMatch(body, /ETag/);
    },
  },
  PutObject: {
    ...writing((path, headers) => own({ request: `PUT ${path}`, headers, body: "second" })),
    ...keeping(async (headers) => {
      const path = `${B}/k${(count += 1)}`;
      return { ...(await own({ request: `PUT ${path}`, headers, body: "x" })), path };
    }, governed),
    "x-amz-trailer": (t) => inFrames(t, async () => `PUT ${B}/framed`),
    "x-amz-decoded-content-length": (t) => inFrames(t, async () => `PUT ${B}/framed`),
  },
  CopyObject: {
    ...ofSource((source, headers) => copyOf(source, headers)),
    ...writing(async (path, headers) => copyOf((await made("second")).path, headers, path)),
    ...keeping(async (headers) => {
      const path = `${B}/k${(count += 1)}`;
      const replace = {
        "x-amz-metadata-directive": "REPLACE",
        "x-amz-tagging-directive": "REPLACE",
      };
      return { ...(await copyOf((await made()).path, { ...replace, ...headers }, path)), path };
    }, null),
    "x-amz-metadata-directive": async (t) => {
      const { path } = await made("x", { "x-amz-meta-of": "source" });
      for (const [directive, kept] of [
        ["COPY", "source"],
        ["REPLACE", "copy"],
      ] as const) {
        const headers = { "x-amz-metadata-directive": directive, "x-amz-meta-of": "copy" };
        await copyOf(path, headers, `${path}-${directive}`);
        t.equal((await headOf(`${path}-${directive}`)).get("x-amz-meta-of"), kept);
      }
    },
    "x-amz-tagging-directive": async (t) => {
      const { path } = await made("x", { "x-amz-tagging": "a=1" });
      for (const [directive, kept] of [
        ["COPY", "1"],
        ["REPLACE", "2"],
      ] as const) {
        const headers = { "x-amz-tagging-directive": directive, "x-amz-tagging": "b=1&c=1" };
        await copyOf(path, headers, `${path}-${directive}`);
        t.equal((await headOf(`${path}-${directive}`)).get("x-amz-tagging-count"), kept);
      }
    },
    "x-amz-checksum-algorithm": async (t) => {
      const { path } = await made();
      t.match(await copyOf(path, { "x-amz-checksum-algorithm": "CRC32" }), {
        body: `<ChecksumCRC32>${crcOf("hello")}`,
      });
    },
  },
  DeleteObject: {
    "if-match": async (t) => {
      const { path, etag } = await made();
      const run = (headers: Record<string, string>) => own({ request: `DELETE ${path}`, headers });
      await decides(t, "if-match", run, [etag, WRONG]);
      t.equal(await statusOf(own, { request: `HEAD ${path}` }), 404);
      const other = await made();
      await decides(
        ...([t, "if-match"] as const),
        (headers) => own({ request: `DELETE ${other.path}`, headers }),
        ["*", WRONG],
      );
    },
    "x-amz-if-match-size": async (t) => {
      const { path } = await made();
      const run = (headers: Record<string, string>) => own({ request: `DELETE ${path}`, headers });
      await decides(t, "x-amz-if-match-size", run, ["5", "4"]);
    },
    "x-amz-if-match-last-modified-time": async (t) => {
      const { path } = await made();
      const now = (await headOf(path)).get("last-modified") ?? "";
      const run = (headers: Record<string, string>) => own({ request: `DELETE ${path}`, headers });
      await decides(t, "x-amz-if-match-last-modified-time", run, [now, OLD]);
    },
    "x-amz-bypass-governance-retention": async (t) => {
      const path = await governed();
      const version = (await headOf(path, admin)).get("x-amz-version-id") ?? "";
      const request = `DELETE ${path}?versionId=${version}`;
      t.equal(await statusOf(admin, { request }), 403);
      const headers = { "x-amz-bypass-governance-retention": "true" };
      t.equal(await statusOf(admin, { request, headers }), 204);
    },
  },
  CreateMultipartUpload: {
    ...keeping(
      async (headers) => {
        const opened = await withPart(headers);
        return { ...(await complete(opened)), path: opened.path };
      },
      async (headers) => {
        const { path, query } = await upload(headers, admin, LOCKED);
        const part = await admin({ request: `PUT ${path}?partNumber=1&${query}`, body: "hello" });
        await admin({ request: `POST ${path}?${query}`, body: listOf(part.headers.get("etag")) });
        return path;
      },
    ),
    "x-amz-checksum-algorithm": async (t) => {
      const { path, query } = await upload({ "x-amz-checksum-algorithm": "CRC32" });
      t.match(await own({ request: `GET ${path}?${query}` }), { body: /CRC32</ });
    },
    "x-amz-checksum-type": async (t) => {
      const headers = { "x-amz-checksum-algorithm": "CRC32", "x-amz-checksum-type": "FULL_OBJECT" };
      const { path, query } = await upload(headers);
      t.match(await own({ request: `GET ${path}?${query}` }), { body: /FULL_OBJECT</ });
    },
  },
  UploadPart: {
    "x-amz-trailer": (t) => inFrames(t, partTarget),
    "x-amz-decoded-content-length": (t) => inFrames(t, partTarget),
  },
  UploadPartCopy: {
    ...ofSource(async (source, headers) =>
      own({
        ...{ request: await partTarget(), headers: { "x-amz-copy-source": source, ...headers } },
      }),
    ),
    "x-amz-copy-source-range": async (t) => {
      const { path } = await made();
      const opened = await upload();
      const headers = { "x-amz-copy-source": path, "x-amz-copy-source-range": "bytes=1-2" };
      await own({ request: `PUT ${opened.path}?partNumber=1&${opened.query}`, headers });
      t.match(await own({ request: `GET ${opened.path}?${opened.query}` }), { body: /<Size>2</ });
    },
  },
  CompleteMultipartUpload: {
    ...writing(async (path, headers) => {
      const { body } = await own({ request: `POST ${path}?uploads` });
      const query = `uploadId=${/<UploadId>(.+?)<\/UploadId>/.exec(body)?.[1] ?? ""}`;
      const part = await own({ request: `PUT ${path}?partNumber=1&${query}`, body: "second" });
      return complete({ path, query, parts: listOf(part.headers.get("etag")), body }, headers);
    }),
    "x-amz-checksum-type": async (t) => {
      const opened = await withPart({ "x-amz-checksum-algorithm": "CRC32" });
      t.match(await complete(opened, { "x-amz-checksum-type": "FULL_OBJECT" }), { status: 400 });
      t.match(await complete(opened, { "x-amz-checksum-type": "COMPOSITE" }), { status: 200 });
    },
    "x-amz-mp-object-size": async (t) => {
      const opened = await withPart();
      t.match(await complete(opened, { "x-amz-mp-object-size": "4" }), { status: 400 });
      t.match(await complete(opened, { "x-amz-mp-object-size": "5" }), { status: 200 });
    },
  },
  AbortMultipartUpload: {
    "x-amz-if-match-initiated-time": async (t) => {
      const { path, query } = await upload();
      const { body } = await own({
        request: `GET ${B}?uploads&prefix=${path.slice(B.length + 1)}`,
      });
      const at = /<Initiated>(.+?)<\/Initiated>/.exec(body)?.[1] ?? "";
      const run = (headers: Record<string, string>) =>
        own({ request: `DELETE ${path}?${query}`, headers });
      await decides(t, "x-amz-if-match-initiated-time", run, [at, OLD]);
    },
  },
  PutObjectRetention: {
    "x-amz-bypass-governance-retention": async (t) => {
      const path = await governed();
      const body = `<Retention><Mode>GOVERNANCE</Mode><RetainUntilDate>2099-01-01T00:00:00Z</RetainUntilDate></Retention>`;
      const sum = { "content-md5": createHash("md5").update(body).digest("base64") };
      const ask = { request: `PUT ${path}?retention`, body };
      t.equal(await statusOf(admin, { ...ask, headers: sum }), 403);
      const headers = { ...sum, "x-amz-bypass-governance-retention": "true" };
      t.equal(await statusOf(admin, { ...ask, headers }), 200);
    },
  },
};

/** An object under governance. */
async function governed(headers: Record<string, string> = {}): Promise<string> {
  const path = `${LOCKED}/k${(count += 1)}`;
  const lock = { ...LOCKS, "x-amz-object-lock-legal-hold": "OFF", ...headers };
  const md5 = createHash("md5").update("x").digest("base64");
  await admin({ request: `PUT ${path}`, body: "x", headers: { ...lock, "content-md5": md5 } });
  return path;
}

for (const [operation, fields] of Object.entries(GRANTED_FIELDS))
  t.test(`${operation} grants what it says that it grants`, async (t) => {
    for (const field of fields) {
      const digest = DIGESTED[field];
      if (digest === undefined) {
        const show = SHOWN[operation]?.[field];
        if (show === undefined) t.fail(`nobody shows ${field}`);
        else await show(t);
        continue;
      }
      const { by, ...ask } = (await BODIES[operation]?.()) ?? { by: own, request: "" };
      const [bytes, right] = digest;
      const wrong = Buffer.alloc(bytes, 1).toString("base64");
      t.match(await by({ ...ask, headers: { [field]: wrong } }), { status: 400 }, field);
      if (ask.body === "hello" && right !== null)
        t.match(await by({ ...ask, headers: { [field]: right } }), { status: 200 }, field);
    }
  });

t.test("what is shown is granted", async (t) => {
  for (const [operation, shown] of Object.entries(SHOWN))
    for (const field of Object.keys(shown))
      t.ok(GRANTED_FIELDS[operation]?.includes(field), `${operation} ${field}`);
});

t.test(
  "of a list of deletions each ETag guards its own object, and a quiet one is quiet",
  async (t) => {
    const [stale, current, last] = [await made(), await made(), await made()];
    const entry = ({ path }: { path: string }, etag: string): string =>
      `<Object><Key>${path.slice(B.length + 1)}</Key><ETag>${etag}</ETag></Object>`;
    const ask = async (list: string): Promise<string> => {
      const body = `<Delete>${list}</Delete>`;
      const headers = { "content-md5": createHash("md5").update(body).digest("base64") };
      return (await own({ request: `POST ${B}?delete`, headers, body })).body;
    };
    const answered = await ask(entry(stale, WRONG) + entry(current, current.etag));
    t.match(answered, /<Error>.*<Code>PreconditionFailed<\/Code>/);
    t.match(answered, /<Deleted>/);
    t.equal(await statusOf(own, { request: `HEAD ${stale.path}` }), 200, "it is still there");
    t.equal(await statusOf(own, { request: `HEAD ${current.path}` }), 404);
    const quiet = await ask(`<Quiet>true</Quiet>${entry(last, last.etag)}${entry(stale, WRONG)}`);
    t.notMatch(quiet, /<Deleted>/);
    t.match(quiet, /<Error>/);
    t.equal(await statusOf(own, { request: `HEAD ${last.path}` }), 404);
  },
);

t.test("of two copies under one condition, one is made", async (t) => {
  const { path } = await made();
  const target = `${B}/once`;
  for (let turn = 0; turn < 5; turn++) {
    const copies = await Promise.all(
      Array.from({ length: 6 }, () => copyOf(path, { "if-none-match": "*" }, `${target}${turn}`)),
    );
    t.equal(copies.filter(({ status }) => status === 200).length, 1);
  }
});

t.test("in a signed query a field does its work as well", async (t) => {
  const asked = (request: string, headers = {}, body = ""): Promise<Answered> =>
    own({ request, headers, body, isPresigned: true });
  const path = `${B}/by-url`;
  const put = await asked(
    `PUT ${path}?x-amz-meta-of=me&x-amz-tagging=a%3D1%26b%3D2&x-amz-checksum-crc32=AAAAAA%3D%3D`,
    {},
    "hello",
  );
  t.equal(put.status, 200, "the checksum of no body is passed over, as S3 does");
  const head = await headOf(path);
  t.match([head.get("x-amz-meta-of"), head.get("x-amz-tagging-count")], ["me", "2"]);
  await own({
    request: `PUT ${path}`,
    body: "hello",
    headers: { "x-amz-checksum-crc32": crcOf("hello") },
  });
  const read = await asked(`GET ${path}?x-amz-checksum-mode=ENABLED`);
  t.equal(read.headers.get("x-amz-checksum-crc32"), crcOf("hello"));
  t.match(await asked(`GET ${path}?attributes&x-amz-object-attributes=ObjectSize`), {
    body: /<ObjectSize>5</,
  });
  t.match(await asked(`DELETE ${path}?x-amz-if-match-size=4`), { status: 412 });
  t.match(await asked(`DELETE ${path}?x-amz-if-match-size=5`), { status: 204 });
});
