import t from "tap";
import { classify } from "../../src/decisions/classify.ts";

const named = (request: string, headers: Record<string, string> = {}): string => {
  const [method = "", target = ""] = request.split(" ");
  try {
    return classify(method, target, Object.entries(headers).flat()).operation.name;
  } catch (error) {
    return error instanceof Error && "code" in error ? String(error.code) : String(error);
  }
};
const body = { "content-length": "3" };
const streaming = {
  "transfer-encoding": "chunked",
  "x-amz-decoded-content-length": "3",
  "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
};
const VERSION = "01K0000000000000000000000Z";
const copy = { "x-amz-copy-source": `/bucket/a%20b?versionId=${VERSION}` };
const range = { "x-amz-copy-source-range": "bytes=0-9" };

t.test("every request of the clients is the operation that S3 calls it", async (t) => {
  const requests: [string, string, Record<string, string>?][] = [
    ["GET /", "ListBuckets"],
    ["PUT /bucket", "CreateBucket"],
    ["PUT /bucket/", "CreateBucket"],
    ["HEAD /bucket", "HeadBucket"],
    ["DELETE /bucket", "DeleteBucket"],
    ["GET /bucket?location", "GetBucketLocation"],
    ["GET /bucket?location=", "GetBucketLocation"],
    ["PUT /bucket?policy=", "PutBucketPolicy", body],
    ["GET /bucket?policy", "GetBucketPolicy"],
    ["DELETE /bucket?policy", "DeleteBucketPolicy"],
    ["PUT /bucket?versioning", "PutBucketVersioning", body],
    ["GET /bucket?ownershipControls", "GetBucketOwnershipControls"],
    ["PUT /bucket?object-lock", "PutObjectLockConfiguration", body],
    ["GET /bucket?tagging", "GetBucketTagging"],
    ["GET /bucket", "ListObjects"],
    ["GET /bucket?prefix=a%2Fb&delimiter=/&max-keys=10", "ListObjects"],
    ["GET /bucket/?list-type=2&prefix=a&continuation-token=x", "ListObjectsV2"],
    ["GET /bucket?versions&prefix=&max-keys=1000", "ListObjectVersions"],
    ["GET /bucket?uploads=&prefix=&max-uploads=1000", "ListMultipartUploads"],
    ["POST /bucket?delete", "DeleteObjects", body],
    ["GET /bucket/a/b%20c", "GetObject"],
    ["GET /bucket/a?versionId=01K&response-content-type=text%2Fplain", "GetObject"],
    [
      "GET /bucket/a?x-id=GetObject&X-Amz-Algorithm=A&X-Amz-Credential=K%2F1&X-Amz-Signature=1",
      "GetObject",
    ],
    ["GET /bucket/a?attributes", "GetObjectAttributes"],
    ["HEAD /bucket/a?partNumber=1", "HeadObject"],
    ["PUT /bucket/a", "PutObject", body],
    ["PUT /bucket/folder/", "PutObject", { "content-length": "0" }],
    ["PUT /bucket/a", "CopyObject", copy],
    ["PUT /bucket/a/.sgwtmp.b/c.sgwtmp", "PutObject", body],
    ["DELETE /bucket/a", "DeleteObject"],
    ["POST /bucket/a?uploads", "CreateMultipartUpload"],
    ["PUT /bucket/a?partNumber=1&uploadId=u", "UploadPart", body],
    ["PUT /bucket/a?partNumber=1&uploadId=u", "UploadPartCopy", { ...copy, ...range }],
    ["PUT /bucket/a?partNumber=1&uploadId=u", "UploadPartCopy", copy],
    ["GET /bucket/a?uploadId=u&max-parts=5", "ListParts"],
    ...["", "close", "Keep-Alive", "TE, close", "Upgrade,keep-alive,"].map(
      (connection): [string, string, Record<string, string>] => [
        "GET /bucket/a",
        "GetObject",
        { connection },
      ],
    ),
    ["POST /bucket/a?uploadId=u", "CompleteMultipartUpload", body],
    ["DELETE /bucket/a?uploadId=u", "AbortMultipartUpload"],
    ["PUT /bucket/a?tagging", "PutObjectTagging", body],
    ["PUT /bucket/a?retention&versionId=01K", "PutObjectRetention", body],
    ["GET /bucket/a?legal-hold", "GetObjectLegalHold"],
    ["PATCH /create-user", "CreateUser", body],
    ["PATCH /delete-user?access=RT1", "DeleteUser"],
  ];
  for (const [request, name, headers] of requests) t.equal(named(request, headers), name, request);
});

t.test(
  "what nobody has classified, or what two readers may take differently, is refused",
  async (t) => {
    const requests: [string, string, Record<string, string>?][] = [
      ["GET /bucket?acl", "NotImplemented"],
      ["GET /bucket?lifecycle", "NotImplemented"],
      ["PUT /bucket/a?acl", "NotImplemented", body],
      ["GET /bucket/a?torrent", "NotImplemented"],
      ["POST /bucket", "NotImplemented", body],
      ["POST /bucket/a?select&select-type=2", "NotImplemented", body],
      ["OPTIONS /bucket/a", "NotImplemented"],
      ["TRACE /bucket/a", "NotImplemented"],
      ["PATCH /bucket/create", "NotImplemented"],
      ["PATCH /list-users", "NotImplemented"],
      ["PATCH /create-user?x=1", "NotImplemented", body],
      ["GET /bucket/a?tagging&uploadId=u", "NotImplemented"],
      ["PUT /bucket/a?uploadId=u", "NotImplemented", body],
      ["PUT /bucket/a?partNumber=1", "NotImplemented", body],
      ["GET /bucket?policy&policy", "InvalidArgument"],
      ["GET /bucket?pol%69cy&policy", "InvalidArgument"],
      ["GET /bucket/a", "NotImplemented", copy],
      ["GET http://other/bucket/a", "InvalidURI"],
      ["GET *", "InvalidURI"],
      ["GET //bucket/a", "InvalidBucketName"],
      ["GET /bucket//a", "InvalidURI"],
      ["GET /bucket/a//b", "InvalidURI"],
      ["GET /bucket/a/../b", "InvalidURI"],
      ["GET /bucket/%2e%2E/other/b", "InvalidURI"],
      ["GET /bucket/..%2Fother/b", "InvalidURI"],
      ["GET /bucket/.", "InvalidURI"],
      ["GET /bucket/a%2F%2Fb", "InvalidURI"],
      ["GET /bucket%2Fa", "InvalidBucketName"],
      ["GET /%62ucket/a", "InvalidBucketName"],
      ["GET /Bucket/a", "InvalidBucketName"],
      ["GET /healthz/a", "InvalidBucketName"],
      ["GET /readyz/a", "InvalidBucketName"],
      ["GET /../a", "InvalidBucketName"],
      ["GET /bucket/a%", "InvalidURI"],
      ["GET /bucket/a%zz", "InvalidURI"],
      ["GET /bucket/%ff%fe", "InvalidURI"],
      ["GET /bucket/%c0%af", "InvalidURI"],
      ["GET /bucket/a%00b", "InvalidURI"],
      ["GET /bucket/a%0d%0ab", "InvalidURI"],
      ["GET /bucket/a\\b", "InvalidURI"],
      ["GET /bucket/a#b", "InvalidURI"],
      ["GET /bucket?prefix=%", "InvalidURI"],
      ["GET /bucket/.sgwtmp/multipart/x", "InvalidURI"],
      ["GET /bucket/%2Esgwtmp/multipart/x", "InvalidURI"],
      ["PUT /bucket/a/.sgwtmp", "InvalidURI", body],
      ["PUT /bucket/a/b/%2Esgwtmp/c", "InvalidURI", body],
      ["PUT /bucket/a/.sgwtmp/", "InvalidURI", { "content-length": "0" }],
      ["PUT /bucket/a/.sgwtmp/b", "InvalidURI", copy],
      ["POST /bucket/a/.sgwtmp/b?uploads", "InvalidURI"],
      ["PUT /bucket/a", "InvalidURI", { "x-amz-copy-source": "/bucket/a/.sgwtmp/b" }],
      [`GET /bucket/${"k".repeat(1025)}`, "KeyTooLongError"],
      ["GET /bucket/a?versionId=..%2Fx", "InvalidArgument"],
      ["GET /bucket/a?versionId=", "InvalidArgument"],
      ["PUT /bucket/a?partNumber=1&uploadId=..%2F..%2Fx", "NoSuchUpload", body],
      ["GET /bucket/a?uploadId=", "NoSuchUpload"],
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/a?versionId=01K" }],
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/a?versionId=" }],
      ["PUT /bucket/a?partNumber=0&uploadId=u", "InvalidArgument", body],
      ["PUT /bucket/a?partNumber=10001&uploadId=u", "InvalidArgument", body],
      ["PUT /bucket/a", "InvalidURI", { "x-amz-copy-source": "/bucket/../other/b" }],
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/a?versionId=1&x=2" }],
      ["PUT /bucket/a", "InvalidURI", { "x-amz-copy-source": "/bucket/%2e%2e/a" }],
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/a?" }],
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/a?b?versionId=1" }],
      ...["connection", "trailer", "upgrade", "cookie"].map(
        (name): [string, string, Record<string, string>] => [
          "GET /bucket/a",
          "InvalidArgument",
          {
            [name]: "te",
            authorization: `AWS4-HMAC-SHA256 Credential=A/1/r/s3/aws4_request, SignedHeaders=host;${name}, Signature=0`,
          },
        ],
      ),
      ["PUT /bucket/a", "InvalidArgument", { "x-amz-copy-source": "/bucket/\u00c3\u00bc" }],
      ["PUT /bucket/a", "InvalidArgument", { ...copy, ...range }],
      ["PUT /bucket/a", "InvalidArgument", { ...body, ...range }],
      ["PUT /bucket/a?partNumber=1&uploadId=u", "InvalidArgument", { ...body, ...range }],
      [
        "PUT /bucket/a?partNumber=1&uploadId=u",
        "InvalidArgument",
        { ...copy, "x-amz-copy-source-range": "bytes=0-" },
      ],
      [
        "PUT /bucket/a?partNumber=1&uploadId=u",
        "InvalidArgument",
        { ...copy, ...range, connection: "X-Amz-Copy-Source-Range" },
      ],
      ["PUT /bucket/a", "InvalidArgument", { ...body, Connection: "close, x-amz-meta-a" }],
      ["PUT /bucket/a", "MissingContentLength"],
      ["PUT /bucket/a", "MissingContentLength", { "transfer-encoding": "chunked" }],
      [
        "PUT /bucket/a",
        "MissingContentLength",
        { "transfer-encoding": "chunked", "x-amz-decoded-content-length": "3" },
      ],
      [
        "PUT /bucket/a",
        "MissingContentLength",
        { ...streaming, "transfer-encoding": "gzip, chunked" },
      ],
      ["PUT /bucket/a?X-Amz-Credential=K%2F1", "MissingContentLength", streaming],
      ["POST /bucket?delete", "MissingContentLength", streaming],
      ["PUT /bucket/a", "EntityTooLarge", { "content-length": String(6 * 1024 ** 3) }],
      ["POST /bucket?delete", "EntityTooLarge", { "content-length": String(5 * 1024 ** 2) }],
      ["GET /bucket/a", "InvalidRequest", { "content-length": "5" }],
      ["PUT /bucket/a", "IncompleteBody", { ...body, "x-amz-decoded-content-length": "1" }],
      ["PUT /bucket/a", "MissingContentLength", { ...body, "x-amz-decoded-content-length": "-1" }],
      [
        "PUT /bucket/a?X-Amz-Credential=K%2F1",
        "IncompleteBody",
        {
          ...body,
          "x-amz-decoded-content-length": "1",
          "x-amz-content-sha256": "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
        },
      ],
      [
        "GET /bucket/a?X-Amz-Credential=K%2F1",
        "InvalidArgument",
        { authorization: "AWS4-HMAC-SHA256 Credential=A/1/r/s3/aws4_request" },
      ],
      ["GET /bucket/a", "InvalidRequest", { authorization: "AWS K:sig" }],
      ["GET /bucket/a", "InvalidArgument", { authorization: "Bearer K" }],
      ["GET /bucket/a", "AuthorizationHeaderMalformed", { authorization: "AWS4-HMAC-SHA256 x" }],
      ["GET /bucket/a?X-Amz-Signature=0", "AuthorizationQueryParametersError"],
    ];
    for (const [request, code, headers] of requests)
      t.equal(named(request, headers), code, request);
    const twice = ["Content-Length", "3", "content-length", "4"];
    t.throws(() => classify("PUT", "/bucket/a", twice), { code: "InvalidArgument" });
  },
);

t.test("the claimed key, the copy's source and the stored length are read", async (t) => {
  const authorization =
    "AWS4-HMAC-SHA256 Credential=RTABC/20260101/garage/s3/aws4_request, SignedHeaders=host, Signature=0";
  const chunked = {
    authorization,
    "content-length": "200",
    "x-amz-decoded-content-length": "100",
    "x-amz-content-sha256": "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  };
  t.match(classify("PUT", "/bucket/a", Object.entries(chunked).flat()), {
    accessKeyId: "RTABC",
    length: { bodyBytes: 200, storedBytes: 100 },
  });
  t.match(classify("PUT", "/bucket/a", Object.entries(streaming).flat()), {
    length: { bodyBytes: null, storedBytes: 3 },
  });
  t.match(classify("GET", "/bucket/a?X-Amz-Credential=RTQ%2F2026&X-Amz-Signature=1", []), {
    accessKeyId: "RTQ",
  });
  t.match(classify("GET", "/bucket/a", []), { accessKeyId: null });
  for (const [source, key, versionId] of [
    [copy["x-amz-copy-source"], "a b", VERSION],
    ["/bucket/a%3Fb", "a?b", null],
    [`bucket%2Fa%3FversionId%3D1?versionId=${VERSION}`, "a?versionId=1", VERSION],
  ] as const)
    t.match(classify("PUT", "/bucket/a", ["x-amz-copy-source", source]), {
      copySource: { bucket: "bucket", key, versionId, rangeBytes: null },
    });
});
