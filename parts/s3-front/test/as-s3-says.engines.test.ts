/** What clients take from S3 as given: paging, keys and folders of every kind, headers of answers. */
import t from "tap";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";
import { signedClient } from "./helper/signed-client.ts";

const front = await RunningFront.create();
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const own = signedClient(front, user.keys);
const B = `/${user.bucket}`;

const allOf = (tag: string, body: string): string[] =>
  [...body.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, "g"))].map(([, text = ""]) => text);
const oneOf = (tag: string, body: string): string => allOf(tag, body)[0] ?? "";

t.test("open uploads are listed in pages of any size, many of one key too", async (t) => {
  const opened: string[] = [];
  for (const key of ["a", "b", "b", "b", "b/c", "b/d", "d", "d"])
    opened.push(
      `${key} ${oneOf("UploadId", (await own({ request: `POST ${B}/${key}?uploads` })).body)}`,
    );
  opened.sort();
  const page = async (more: string) => {
    const { status, body } = await own({ request: `GET ${B}?uploads${more}` });
    t.equal(status, 200, more);
    const ids = allOf("UploadId", body);
    return {
      body,
      uploads: allOf("Key", body).map((key, at) => `${key} ${ids[at] ?? ""}`),
      prefixes: [...body.matchAll(/<CommonPrefixes><Prefix>([^<]*)/g)].map(([, text = ""]) => text),
    };
  };
  for (const size of [1, 2, 3, 8, 9]) {
    const found: string[] = [];
    for (let [markers, turn] = ["", 0]; turn < 10; turn++) {
      const { body, uploads } = await page(`&max-uploads=${size}${markers}`);
      t.ok(uploads.length <= size);
      found.push(...uploads);
      if (oneOf("IsTruncated", body) !== "true") break;
      markers = `&key-marker=${oneOf("NextKeyMarker", body)}&upload-id-marker=${oneOf("NextUploadIdMarker", body)}`;
    }
    t.strictSame(found, opened, `pages of ${size}`);
  }
  const folded: string[] = [];
  for (let [markers, turn] = ["", 0]; turn < 10; turn++) {
    const { body, uploads, prefixes } = await page(`&delimiter=/&max-uploads=1${markers}`);
    folded.push(...uploads.map((upload) => upload[0] ?? ""), ...prefixes);
    if (oneOf("IsTruncated", body) !== "true") break;
    markers = `&key-marker=${encodeURIComponent(oneOf("NextKeyMarker", body))}&upload-id-marker=${oneOf("NextUploadIdMarker", body)}`;
  }
  t.strictSame(folded, ["a", "b", "b", "b", "b/", "d", "d"], "a folder comes once");
  const [, gone = ""] = opened[1]?.split(" ") ?? [];
  await own({ request: `DELETE ${B}/b?uploadId=${gone}` });
  t.strictSame(
    (await page(`&key-marker=b&upload-id-marker=${gone}&max-uploads=2`)).uploads,
    opened.slice(2, 4),
    "after one that is gone by now",
  );
  t.strictSame((await page("&key-marker=b")).uploads, opened.slice(4), "after a key");
  t.strictSame((await page("&max-uploads=0")).uploads, []);
});

t.test("deleting a folder's name is 204, whatever lies there", async (t) => {
  await own({ request: `PUT ${B}/folder/in/x`, body: "x" });
  for (const key of ["folder/", "folder/in/", "nothing/", "folder/in/x/"])
    t.match(await own({ request: `DELETE ${B}/${key}` }), { status: 204 }, key);
  t.match(await own({ request: `GET ${B}/folder/in/x` }), { status: 200, body: "x" });
  await own({ request: `PUT ${B}/folder/` });
  t.match(await own({ request: `DELETE ${B}/folder/` }), { status: 204 }, "with a marker");
  t.match(await own({ request: `HEAD ${B}/folder/` }), { status: 404 });
});

t.test("keys with question marks are copied, whole and in parts, of any version", async (t) => {
  for (const key of ["what%3F", "a%3Fb%3FversionId%3Dc", "%3F%26%25%2B%20%23"]) {
    const put = await own({ request: `PUT ${B}/${key}`, body: key });
    const version = put.headers.get("x-amz-version-id") ?? "";
    await own({ request: `PUT ${B}/${key}`, body: "newer" });
    for (const [source, body] of [
      [`${B}/${key}`, "newer"],
      [`${B}/${key}?versionId=${version}`, key],
    ] as const) {
      const headers = { "x-amz-copy-source": source };
      t.match(await own({ request: `PUT ${B}/copy`, headers }), { status: 200 }, source);
      t.match(await own({ request: `GET ${B}/copy` }), { body }, source);
      const { body: opened } = await own({ request: `POST ${B}/parts?uploads` });
      const query = `uploadId=${oneOf("UploadId", opened)}`;
      const part = await own({ request: `PUT ${B}/parts?partNumber=1&${query}`, headers });
      t.match(part, { status: 200 }, source);
    }
  }
  t.match(
    await own({ request: `PUT ${B}/copy`, headers: { "x-amz-copy-source": `${B}/what?` } }),
    { status: 400, code: "InvalidArgument" },
    "one that is not escaped begins a version",
  );
});

t.test("attributes are asked for in one line or in a line each", async (t) => {
  await own({ request: `PUT ${B}/attributes`, body: "hello" });
  const path = `${B}/attributes?attributes`;
  const name = "x-amz-object-attributes";
  const headers = await signedHeaders(front, user.keys, "GET", path, { [name]: "ETag,ObjectSize" });
  const one = headText(`GET ${path}`, headers);
  const each = one.replace("ETag,ObjectSize", `ETag\r\n${name}: ObjectSize`);
  for (const head of [one, each]) {
    const connection = new RawConnection(front);
    connection.socket.write(head);
    const answer = await connection.until(/<\/GetObjectAttributesResponse>|<\/Error>/);
    connection.close();
    t.match(answer, /<ETag>[\s\S]*<ObjectSize>5</);
  }
});

t.test("ids that are none get the answer that S3 gives to them", async (t) => {
  await own({ request: `PUT ${B}/ids`, body: "hello" });
  const { body: opened } = await own({ request: `POST ${B}/of-ids?uploads` });
  const part = `PUT ${B}/of-ids?partNumber=1&uploadId=${oneOf("UploadId", opened)}`;
  const nobodys = "01K0000000000000000000000Z";
  for (const request of [`PUT ${B}/of-ids`, part])
    for (const [version, code] of [
      ["invalid_version", "InvalidArgument"],
      ["", "InvalidArgument"],
      [nobodys, "NoSuchVersion"],
    ]) {
      const headers = { "x-amz-copy-source": `${B}/ids?versionId=${version}` };
      t.match(await own({ request, headers }), { code }, `${request} of ${version}`);
    }
  for (const request of ["GET", "DELETE"])
    t.match(await own({ request: `${request} ${B}/of-ids?uploadId=not/one` }), {
      ...{ status: 404, code: "NoSuchUpload" },
    });
});

t.test("a deleted object is no source of a copy, whole or of a range", async (t) => {
  await own({ request: `PUT ${B}/gone-source`, body: "hello" });
  const { headers: said } = await own({ request: `DELETE ${B}/gone-source` });
  const marker = said.get("x-amz-version-id") ?? "";
  const { body: opened } = await own({ request: `POST ${B}/of-gone?uploads` });
  const part = `PUT ${B}/of-gone?partNumber=1&uploadId=${oneOf("UploadId", opened)}`;
  const ranged = { "x-amz-copy-source-range": "bytes=0-1" };
  const source = { "x-amz-copy-source": `${B}/gone-source` };
  const named = { "x-amz-copy-source": `${B}/gone-source?versionId=${marker}` };
  t.match(await own({ request: `PUT ${B}/of-gone`, headers: source }), { code: "NoSuchKey" });
  t.match(await own({ request: part, headers: { ...source, ...ranged } }), { code: "NoSuchKey" });
  t.match(await own({ request: part, headers: { ...named, ...ranged } }), {
    code: "InvalidRequest",
  });
});

t.test("what is signed arrives, and what can't is named", async (t) => {
  const request = `GET ${B}/copy`;
  for (const name of ["keep-alive", "te", "proxy-connection", "x-of-somebody"])
    t.match(await own({ request, headers: { [name]: "timeout=5" } }), { status: 200 }, name);
  for (const name of ["upgrade", "cookie", "rt-proven"])
    t.match(
      await own({ request, headers: { [name]: "a" } }),
      { status: 400, code: "InvalidArgument", body: new RegExp(name) },
      name,
    );
});

t.test("answers say once who asked, and where an object is", async (t) => {
  for (const request of [`PUT ${B}/x`, `GET ${B}/x`, `HEAD ${B}/x`, `GET ${B}/gone`, `GET ${B}`]) {
    const { headers } = await own({ request });
    for (const name of ["x-amz-request-id", "x-amz-id-2"])
      t.match(headers.get(name), /^[^\s,]+$/, `${request} ${name}`);
  }
  const { body: opened } = await own({ request: `POST ${B}/u?uploads` });
  const query = `uploadId=${oneOf("UploadId", opened)}`;
  const part = await own({ request: `PUT ${B}/u?partNumber=1&${query}`, body: "x" });
  const { body } = await own({
    request: `POST ${B}/u?${query}`,
    body: `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${part.headers.get("etag") ?? ""}</ETag></Part></CompleteMultipartUpload>`,
  });
  t.equal(oneOf("Location", body), `${front.endpoint}${B}/u`);
});

t.test("answers about a delete marker name it", async (t) => {
  await own({ request: `PUT ${B}/marked`, body: "x" });
  const { headers } = await own({ request: `DELETE ${B}/marked` });
  const marker = headers.get("x-amz-version-id") ?? "";
  t.match([headers.get("x-amz-delete-marker"), marker], ["true", /^[0-9A-Z]{26}$/]);
  for (const method of ["GET", "HEAD"]) {
    const gone = await own({ request: `${method} ${B}/marked` });
    t.equal(gone.status, 404, method);
    t.equal(gone.headers.get("x-amz-delete-marker"), "true");
    t.equal(gone.headers.get("x-amz-version-id"), marker);
    const named = await own({ request: `${method} ${B}/marked?versionId=${marker}` });
    t.equal(named.status, 405, method);
    t.equal(named.headers.get("x-amz-delete-marker"), "true");
    t.equal(named.headers.get("x-amz-version-id"), marker);
    t.equal(named.headers.get("allow"), "DELETE");
    t.ok(named.headers.get("last-modified"));
  }
});

t.test(
  "a refusal of HEAD, which has no document, says in its headers what is refused",
  async (t) => {
    const headers = { "x-amz-expected-bucket-owner": "somebody" };
    const refused = await own({ request: `HEAD ${B}/x`, headers });
    t.equal(refused.status, 501);
    t.equal(refused.headers.get("x-amz-error-code"), "NotImplemented");
    t.match(refused.headers.get("x-amz-error-message"), /x-amz-expected-bucket-owner/);
    const odd = await own({ request: `HEAD ${B}/x?of-%C3%BC%E2%82%AC` });
    t.match([odd.status, odd.headers.get("x-amz-error-message")], [501, /parameter of-\?+ /]);
  },
);

t.test("a client that knows no region is told it", async (t) => {
  const asked = await own({ request: `GET ${B}?location`, region: "us-east-1" });
  t.match(asked, { status: 200, body: />garage</ });
  t.match(await own({ request: `GET ${B}/x`, region: "us-east-1" }), {
    status: 400,
    code: "AuthorizationHeaderMalformed",
    body: /<Region>garage</,
  });
});
