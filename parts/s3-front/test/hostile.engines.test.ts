import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { request as httpsRequest } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import type { S3Credentials } from "@resontech/coordinator/s3-transport";
import { fetchWithCa } from "@resontech/house/fetch-with-ca";
import { RunningFront } from "./helper/running-front.ts";
import { headText, RawConnection, signedHeaders } from "./helper/signed.ts";

const front = await RunningFront.create({ outputExport: "controlled" });
t.teardown(() => front[Symbol.asyncDispose]());
const user = await front.addUser();
const store = front.storeOf(user);
const host = { host: "localhost" };

t.test("what is not plainly HTTP, or not plainly one request, is cut off", async (t) => {
  const put = `/${user.bucket}/x`;
  const requests: [string, string, RegExp][] = [
    ["no HTTP", "hello\r\n\r\n", /^HTTP\/1\.1 400[\s\S]*InvalidRequest/],
    [
      "two frames",
      headText(`PUT ${put}`, { ...host, "content-length": "3", "transfer-encoding": "chunked" }),
      /^HTTP\/1\.1 400/,
    ],
    [
      "two lengths",
      `PUT ${put} HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabc`,
      /^HTTP\/1\.1 400/,
    ],
    [
      "a length that is none",
      headText(`PUT ${put}`, { ...host, "content-length": "+3" }),
      /^HTTP\/1\.1 400/,
    ],
    ["a folded header", `GET ${put} HTTP/1.1\r\nhost: a\r\n b\r\n\r\n`, /^HTTP\/1\.1 400/],
    ["no host", `GET ${put} HTTP/1.1\r\n\r\n`, /^HTTP\/1\.1 400/],
    ["a bare line feed in a header", `GET ${put} HTTP/1.1\nhost: a\n\n`, /^HTTP\/1\.1 (400|403)/],
    [
      "a head of 9 KiB",
      headText(`GET ${put}`, { ...host, "x-long": "x".repeat(9000) }),
      /RequestHeaderSectionTooLarge/,
    ],
    [
      "a target of 9 KiB",
      headText(`GET /${user.bucket}/${"x".repeat(9000)}`, host),
      /RequestHeaderSectionTooLarge/,
    ],
    ["a proxy's request", headText("GET http://localhost/bucket/key", host), /InvalidURI/],
    [
      "chunked without a length",
      headText(`PUT ${put}`, { ...host, "transfer-encoding": "chunked" }),
      /^HTTP\/1\.1 411[\s\S]*MissingContentLength/,
    ],
    [
      "another expectation",
      headText(`PUT ${put}`, { ...host, "content-length": "3", expect: "miracles" }),
      /^HTTP\/1\.1 400[\s\S]*InvalidArgument/,
    ],
    ["a method of nobody", headText(`SEARCH ${put}`, host), /^HTTP\/1\.1 501[\s\S]*NotImplemented/],
    [
      "an unknown subresource",
      headText(`GET ${put}?torrent`, host),
      /^HTTP\/1\.1 501[\s\S]*NotImplemented/,
    ],
    [
      "a dot segment",
      headText(`GET /${user.bucket}/a/%2e%2e/b`, host),
      /^HTTP\/1\.1 400[\s\S]*InvalidURI/,
    ],
    [
      "a folder of the engine's own",
      headText(`GET /${user.bucket}/.sgwtmp/x`, host),
      /^HTTP\/1\.1 400[\s\S]*InvalidURI/,
    ],
  ];
  for (const [what, text, expected] of requests) {
    const raw = new RawConnection(front);
    raw.socket.write(text);
    t.match(await raw.until(/<\/Error>/), expected, what);
    raw.close();
  }
  const answer = await fetchWithCa(front.caPem, `${front.endpoint}/${user.bucket}/a?torrent`);
  t.match(answer.headers.get("x-amz-request-id"), /^[0-9a-f-]{36}$/);
  t.match(
    await answer.text(),
    /<Resource>\/canary\d-[0-9a-f]+\/a<\/Resource><RequestId>[0-9a-f-]{36}</,
  );
});

t.test("what hides in an upload that the engine refuses reaches nobody", async (t) => {
  const target = `/${user.bucket}/cover`;
  const wrong = { ...user.keys, secretAccessKey: "x".repeat(40) };
  const stream = {
    "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    "x-amz-decoded-content-length": "5",
  };
  // Where an engine stops to read is its own affair: line breaks lead to the hidden request from wherever it is.
  for (const [what, keys, extra, isChunked] of [
    ["of a length, signed with another secret", wrong, {}, false],
    [
      "in chunks, one of them wrongly signed",
      user.keys,
      { ...stream, "content-encoding": "aws-chunked" },
      true,
    ],
  ] as const)
    for (const lead of [1_000, 8_000, 12_000, 15_000, 100_000, 300_000]) {
      const hidden = `/${user.bucket}/hidden-${isChunked}-${lead}`;
      const second = headText(`PUT ${hidden}`, {
        ...(await signedHeaders(front, user.keys, "PUT", hidden)),
        "content-length": "0",
      });
      const body = `5;chunk-signature=${"0".repeat(64)}\r\nhello\r\n${"\r\n".repeat(lead / 2)}${second}`;
      const frame: Record<string, string> = isChunked
        ? { "transfer-encoding": "chunked" }
        : { "content-length": String(body.length) };
      const headers = { ...(await signedHeaders(front, keys, "PUT", target, extra)), ...frame };
      const raw = new RawConnection(front);
      raw.socket.write(
        headText(`PUT ${target}`, headers) +
          (isChunked ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body),
      );
      t.match(
        await raw.until(/HTTP\/1\.1 [2345]/),
        /^HTTP\/1\.1 (403|503) /,
        `${what}, behind ${lead} bytes`,
      );
      raw.close();
    }
  await sleep(200);
  const kept: string[] = [];
  for await (const page of store.versions(user.bucket)) kept.push(...page.map(({ key }) => key));
  t.same(
    kept.filter((key) => key.startsWith("hidden") || key === "cover"),
    [],
  );
});

t.test("an upload whose last chunk is late is stored once, and its client told so", async (t) => {
  const path = `/${user.bucket}/late`;
  const headers = await signedHeaders(front, user.keys, "PUT", path, {
    ...{
      "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      "x-amz-trailer": "x-amz-checksum-crc32",
    },
    ...{ "x-amz-decoded-content-length": "5", "content-encoding": "aws-chunked" },
  });
  const body = "5\r\nhello\r\n0\r\nx-amz-checksum-crc32:NhCmhg==\r\n\r\n";
  const raw = new RawConnection(front);
  raw.socket.write(
    `${headText(`PUT ${path}`, { ...headers, "transfer-encoding": "chunked" })}${body.length.toString(16)}\r\n${body}\r\n`,
  );
  await sleep(300);
  raw.socket.write("0\r\n\r\n");
  t.match(await raw.until(/HTTP\/1\.1 \d/), /^HTTP\/1\.1 200 /);
  raw.close();
  const found = await front
    .transportOf(user.keys)
    .send({ method: "GET", path: [user.bucket, "late"] });
  t.equal(found.body.toString(), "hello");
  const versions: string[] = [];
  for await (const page of store.versions(user.bucket))
    versions.push(...page.map(({ key }) => key));
  t.equal(versions.filter((key) => key === "late").length, 1);
});

t.test("a body that hides a second request is one body", async (t) => {
  const path = `/${user.bucket}/smuggled`;
  const second = headText(`DELETE /${user.bucket}/smuggled`, host);
  const headers = {
    ...(await signedHeaders(front, user.keys, "PUT", path)),
    "content-length": String(second.length),
  };
  const raw = new RawConnection(front);
  raw.socket.write(headText(`PUT ${path}`, headers) + second);
  await raw.until(/HTTP\/1\.1 200/);
  const found = await front
    .transportOf(user.keys)
    .send({ method: "GET", path: [user.bucket, "smuggled"] });
  t.equal(found.body.toString(), second);
  raw.close();
});

t.test("a user makes no key pairs, also not by the coordinator's name", async (t) => {
  const body = "<Account><Access>MALLORY</Access><Secret>x</Secret><Role>admin</Role></Account>";
  const request = { method: "PATCH", path: ["create-user"], body } as const;
  await t.rejects(front.transportOf(user.keys).send(request), {
    code: "AccessDenied",
    status: 403,
  });
  const forged = front.transportOf({ ...front.admin, secretAccessKey: "wrong" });
  await t.rejects(forged.send(request), { code: "SignatureDoesNotMatch", status: 403 });
});

t.test(
  "where a site controls export, a user's key can't take a model out in any way; the coordinator's can",
  async (t) => {
    const key = "jobs/p/model_out/checkpoint.pt";
    const model = await front.store.put(user.bucket, key, "weights", "application/octet-stream");
    await front.store.put(user.bucket, "jobs/p/files_out/metrics.jsonl", "{}", "text/plain");
    const own = front.transportOf(user.keys);
    const refused = { code: "AccessDenied", status: 403, message: /controls what models leave/ };
    await t.rejects(own.send({ method: "GET", path: [user.bucket, key] }), refused);
    await t.rejects(
      own.send({ method: "GET", path: [user.bucket, key], query: { versionId: model.versionId } }),
      refused,
    );
    await t.rejects(
      own.send({ method: "GET", path: [user.bucket, key], headers: { range: "bytes=0-1" } }),
      refused,
    );
    await t.rejects(own.send({ method: "HEAD", path: [user.bucket, key] }), {
      name: "S3ResponseError",
      status: 403,
    });
    for (const source of [
      `${user.bucket}/${key}`,
      `/${user.bucket}/jobs/p/model%5Fout/checkpoint.pt?versionId=${model.versionId}`,
    ]) {
      const copy = {
        method: "PUT",
        path: [user.bucket, "mine"],
        headers: { "x-amz-copy-source": source },
      } as const;
      await t.rejects(own.send(copy), refused, source);
    }
    const presigned = await fetchWithCa(
      front.caPem,
      await store.presignGet(user.bucket, key, model.versionId, 60),
    );
    t.equal(presigned.status, 403);
    const escaped = `/${user.bucket}/jobs/p/model%5fout%2fcheckpoint.pt`;
    const headers = await signedHeaders(front, user.keys, "GET", escaped);
    t.equal((await fetchWithCa(front.caPem, front.endpoint + escaped, { headers })).status, 403);
    t.equal(
      (
        await own.send({ method: "GET", path: [user.bucket, "jobs/p/files_out/metrics.jsonl"] })
      ).body.toString(),
      "{}",
    );
    const released = await fetchWithCa(
      front.caPem,
      await front.store.presignGet(user.bucket, key, model.versionId, 60),
    );
    t.equal(await released.text(), "weights");
    const records = (await front.leaves()).filter(({ type }) => type === "data.object.refused");
    // Each call by itself; what repeats it is counted.
    t.same(
      records.map(({ action }) => action),
      ["S3 GetObject", "S3 HeadObject", "S3 CopyObject"],
    );
    t.match(records[0], {
      actor: { sub: "unproven" },
      detail: { claimed: user.userId, status: 403, code: "AccessDenied" },
    });
    for (const { decision } of records)
      t.strictSame(decision, { effect: "deny", policy_ids: ["output-export"] });
  },
);

t.test(
  "a form is an object like any other, and waits in no temporary file for its signature to be read",
  async (t) => {
    const path = `/${user.bucket}/form`;
    const type = "multipart/form-data; boundary=b";
    const file = (bytes: number) =>
      `--b\r\nContent-Disposition: form-data; name="f"; filename="f"\r\n\r\n${"x".repeat(bytes)}\r\n--b--\r\n`;
    const headersFor = async (keys: S3Credentials, body: string) => ({
      ...(await signedHeaders(front, keys, "PUT", path, { "content-type": type })),
      "content-length": String(body.length),
    });
    const raw = new RawConnection(front);
    const small = file(100_000);
    raw.socket.write(headText(`PUT ${path}`, await headersFor(user.keys, small)) + small);
    t.match(await raw.until(/HTTP\/1\.1 \d/), /^HTTP\/1\.1 200 /);
    raw.close();
    t.equal(
      (
        await front.transportOf(user.keys).send({ method: "GET", path: [user.bucket, "form"] })
      ).body.toString(),
      small,
    );
    const large = file(40 * 1024 ** 2);
    const forged = new RawConnection(front);
    forged.socket.write(
      headText(`PUT ${path}`, await headersFor({ ...user.keys, secretAccessKey: "wrong" }, large)),
    );
    forged.socket.write(large.slice(0, -1_000));
    const answer = forged.until(/<\/Error>/);
    const opened = new Set<string>();
    for (const closesAt = Date.now() + 1_000; Date.now() < closesAt; await sleep(20))
      for (const name of openFiles(front.enginePid)) opened.add(name);
    t.same(
      [...opened].filter((name) => /multipart/.test(name)),
      [],
    );
    // An engine that hangs up on the rest of a body may be gone before its answer is read.
    t.match(await answer, /<Code>(SignatureDoesNotMatch|ServiceUnavailable)</);
    forged.close();
  },
);

t.test("1 GiB goes in and comes out in bounded memory", async (t) => {
  const large = await front.addUser(2 * 1024 ** 3);
  const path = `/${large.bucket}/large`;
  const bytes = 1024 ** 3;
  const block = Buffer.alloc(1024 ** 2, 7);
  const put = httpsRequest(front.endpoint + path, {
    method: "PUT",
    ca: front.caPem,
    headers: { ...(await signedHeaders(front, large.keys, "PUT", path)), "content-length": bytes },
  });
  const before = peakBytes();
  const stored = new Promise<number>((resolve, reject) => {
    put.on("response", (answer) => resolve(answer.resume().statusCode ?? 0)).on("error", reject);
  });
  for (let sent = 0; sent < bytes; sent += block.length)
    if (!put.write(block)) await new Promise((resolve) => put.once("drain", resolve));
  put.end();
  t.equal(await stored, 200);
  const headers = await signedHeaders(front, large.keys, "GET", path);
  const read = await new Promise<number>((resolve, reject) => {
    httpsRequest(front.endpoint + path, { ca: front.caPem, headers }, (answer) => {
      let count = 0;
      answer.on("data", (chunk: Buffer) => (count += chunk.length)).on("end", () => resolve(count));
    })
      .on("error", reject)
      .end();
  });
  t.equal(read, bytes);
  const grown = peakBytes() - before;
  t.ok(grown < 96 * 1024 ** 2, `grew by ${Math.round(grown / 1024 ** 2)} MiB`);
});

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${fd}`)];
    } catch {
      return [];
    }
  });
}

/** Highest resident set of the front's process so far. */
function peakBytes(): number {
  return (
    Number(
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${front.frontPid}/status`, "utf8"))?.[1] ?? 0,
    ) * 1024
  );
}
