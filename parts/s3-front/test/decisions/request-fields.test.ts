/** Operation × field: what is granted, what is harmless, and that everything else is refused by its name. */
import t from "tap";
import { classify } from "../../src/decisions/classify.ts";
import { dateOf } from "../../src/decisions/date-of.ts";
import { parseDeleteList } from "../../src/decisions/delete-list.ts";
import { KEY_CALLS, type Operation, OPERATIONS } from "../../src/decisions/operations.ts";
import {
  GRANTED_FIELDS,
  HARMLESS_FIELDS,
  HARMLESS_VALUES,
} from "../../src/decisions/request-fields.ts";
import { S3Refusal } from "../../src/decisions/s3-error.ts";

const DATE = "Thu, 01 Jan 2026 00:00:00 GMT";
/** Fields of S3's that this store grants nobody, MinIO's, and one of nobody. */
const STRANGE = [
  ...["customer-algorithm", "customer-key", "customer-key-md5", "aws-kms-key-id"].flatMap(
    (name) => [
      `x-amz-server-side-encryption-${name}`,
      `x-amz-copy-source-server-side-encryption-${name}`,
    ],
  ),
  ...["", "-context", "-bucket-key-enabled"].map((end) => `x-amz-server-side-encryption${end}`),
  ...["full-control", "read", "read-acp", "write", "write-acp"].map(
    (right) => `x-amz-grant-${right}`,
  ),
  ...["x-amz-expected-bucket-owner", "x-amz-source-expected-bucket-owner", "x-amz-mfa"],
  ...["x-amz-website-redirect-location", "x-amz-write-offset-bytes", "x-amz-rename-source"],
  ...["x-amz-optional-object-attributes", "x-amz-confirm-remove-self-bucket-access"],
  ...["x-minio-force-delete", "x-minio-source-mtime", "content-range", "if-schedule-tag-match"],
  ...["x-amz-max-parts", "x-amz-part-number-marker", "x-amz-of-tomorrow"],
];
const FIELDS = [
  ...new Set([
    ...Object.values(GRANTED_FIELDS).flat(),
    ...HARMLESS_FIELDS,
    ...Object.keys(HARMLESS_VALUES),
    ...STRANGE,
  ]),
].map((field) => field.replace("*", "a"));

/** The least that selects an operation. */
function requestOf({ level, selectors, body, copies }: Operation): {
  target: string;
  headers: Record<string, string>;
} {
  const path = { service: "/", bucket: "/bucket", object: "/bucket/a" }[level];
  const query = selectors.map((name) => `${name}=${name === "list-type" ? "2" : "1"}`);
  return {
    target: `${path}?${query.join("&")}`,
    headers: {
      ...(body === "none" ? {} : { "content-length": "3" }),
      ...(copies ? { "x-amz-copy-source": "/bucket/b" } : {}),
    },
  };
}

const valueOf = (field: string, { body }: Operation): string => {
  if (field === "x-amz-decoded-content-length" && body === "none") return "0";
  if (/since|time$|date$/.test(field)) return DATE;
  if (/size|length/.test(field)) return "3";
  if (field.endsWith("range")) return "bytes=0-1";
  return field.includes("bypass") ? "true" : "x";
};

function refusalOf(run: () => unknown): S3Refusal | null {
  try {
    run();
    return null;
  } catch (error) {
    if (error instanceof S3Refusal) return error;
    throw error;
  }
}

const isGranted = (operation: string, field: string): boolean =>
  GRANTED_FIELDS[operation]?.some((one) => one.replace("*", "a") === field) === true;

/** Says what body comes, or which operation it is: no query can. */
const OF_HEADERS =
  /^x-amz-(?:copy-source|decoded-content-length|trailer|checksum-(?!mode|algorithm|type))/;

t.test("each field of each operation is granted, harmless, or 501 by its name", async (t) => {
  for (const operation of OPERATIONS) {
    const { name, method } = operation;
    const { target, headers } = requestOf(operation);
    for (const field of FIELDS) {
      // They decide which operation it is.
      if (field === "x-amz-copy-source" || field === "x-amz-copy-source-range") continue;
      const sent = { ...headers, [field]: valueOf(field, operation) };
      const refusal = refusalOf(() => classify(method, target, Object.entries(sent).flat()));
      if (isGranted(name, field) || HARMLESS_FIELDS.includes(field)) {
        if (refusal !== null) t.fail(`${name} ${field}: ${refusal.message}`);
      } else if (refusal?.code !== "NotImplemented" || !refusal.message.includes(field))
        t.fail(`${name} ${field}: ${refusal?.message ?? "passed"}`);
    }
    for (const field of FIELDS.filter((one) => one.startsWith("x-amz-"))) {
      const inQuery = `${field}=${encodeURIComponent(valueOf(field, operation))}`;
      const signed = `${target}&X-Amz-Credential=K%2F1&${inQuery}`;
      const refusal = refusalOf(() => classify(method, signed, Object.entries(headers).flat()));
      const isRead = isGranted(name, field) && !OF_HEADERS.test(field);
      if (isRead || HARMLESS_FIELDS.includes(field)) {
        if (refusal !== null) t.fail(`${name} ?${field}: ${refusal.message}`);
      } else if (refusal?.code !== "NotImplemented" || !refusal.message.includes(field))
        t.fail(`${name} ?${field}: ${refusal?.message ?? "passed"}`);
    }
  }
  t.pass(`${OPERATIONS.length} operations, ${FIELDS.length} fields`);
});

t.test("the table names operations alone, and each once", async (t) => {
  const names = OPERATIONS.map(({ name }) => name);
  t.strictSame(
    Object.keys(GRANTED_FIELDS).filter((name) => !names.includes(name)),
    [],
  );
  t.equal(new Set(names).size, names.length);
  for (const [operation, fields] of Object.entries(GRANTED_FIELDS))
    t.equal(new Set(fields).size, fields.length, operation);
  for (const path of KEY_CALLS.keys())
    t.match(
      refusalOf(() => classify("PATCH", path, ["x-amz-mfa", "1"])),
      { code: "NotImplemented" },
    );
});

t.test("values: what is so anyway passes, what the engine can't read is refused", async (t) => {
  const cases: [string, Record<string, string>, string | null][] = [
    ["PUT /bucket/a", { "x-amz-acl": "private" }, null],
    ["PUT /bucket/a", { "x-amz-acl": "bucket-owner-full-control" }, null],
    ["PUT /bucket/a", { "x-amz-acl": "public-read" }, "NotImplemented"],
    ["PUT /bucket/a", { "x-amz-storage-class": "STANDARD" }, null],
    ["PUT /bucket/a", { "x-amz-storage-class": "GLACIER" }, "NotImplemented"],
    ["GET /bucket/a?attributes", { "x-amz-object-attributes": "ETag,ObjectSize" }, null],
    [
      "GET /bucket/a?attributes",
      { "x-amz-object-attributes": "ETag,ObjectParts" },
      "NotImplemented",
    ],
    ["PUT /bucket/a", { "if-none-match": "" }, "InvalidArgument"],
    ["PUT /bucket/a", { "content-md5": "" }, "InvalidDigest"],
    ["PUT /bucket/a", { "x-amz-checksum-crc32": "" }, "InvalidRequest"],
    ["POST /bucket/a?uploadId=u", { "x-amz-mp-object-size": "-1" }, "InvalidRequest"],
    ["GET /bucket/a?attributes", { "x-amz-object-attributes": "" }, "InvalidRequest"],
    [
      "GET /bucket/a?attributes",
      { "x-amz-object-attributes": "ETag", "X-Amz-Object-Attributes": "Checksum" },
      null,
    ],
    ["PUT /bucket/a", { "x-amz-meta-a": "" }, null],
    ["PUT /bucket/a", { "x-amz-meta-a": "1", "X-Amz-Meta-A": "2" }, null],
    ["PUT /bucket/a", { "if-match": "a", "If-Match": "b" }, "InvalidArgument"],
    ["GET /bucket/a", { "if-unmodified-since": "yesterday" }, "InvalidArgument"],
    [
      "GET /bucket/a",
      { "if-unmodified-since": "Mon, 30 Feb 2026 00:00:00 GMT" },
      "InvalidArgument",
    ],
    ["GET /bucket/a", { "if-modified-since": DATE }, null],
    ["DELETE /bucket/a", { "x-amz-if-match-size": "many" }, "InvalidArgument"],
    [
      "DELETE /bucket/a",
      { "x-amz-if-match-last-modified-time": "Fri, 01 Jan 2100 00:00:00 GMT" },
      "InvalidArgument",
    ],
    ["DELETE /bucket/a", { "x-amz-bypass-governance-retention": "yes" }, "InvalidArgument"],
    [
      "PUT /bucket/a?x-amz-checksum-crc32=AAAAAA%3D%3D&x-amz-sdk-checksum-algorithm=CRC32",
      {},
      null,
    ],
    ["PUT /bucket/a?x-amz-checksum-crc32=AAAAAQ%3D%3D", {}, "NotImplemented"],
    ["PUT /bucket/a?x-amz-acl=private", {}, null],
    ["PUT /bucket/a?x-amz-acl=public-read", {}, "NotImplemented"],
    ["PUT /bucket/a?x-amz-signature=1", {}, "NotImplemented"],
    ["PUT /bucket/a?x-amz-meta-a=1", {}, "NotImplemented"],
    ["PUT /bucket/a?X-Amz-Credential=K%2F1&x-amz-meta-a=1", {}, null],
    [
      "PUT /bucket/a?X-Amz-Credential=K%2F1&x-amz-meta-a=1",
      { "x-amz-meta-a": "2" },
      "InvalidArgument",
    ],
    [
      "PUT /bucket/a?X-Amz-Credential=K%2F1&x-amz-tagging=a",
      { "x-amz-tagging": "b" },
      "InvalidArgument",
    ],
    ["DELETE /bucket/a?X-Amz-Credential=K%2F1&x-amz-if-match-size=x", {}, "InvalidArgument"],
    ["GET /bucket?list-type=2&metadata=true", {}, null],
    ["GET /bucket?versions&metadata=true", {}, null],
    ["GET /bucket?uploads&metadata=true", {}, "NotImplemented"],
    ["GET /bucket?list-type=2&encoding-type=url&fetch-owner=true", {}, null],
    ["GET /bucket?list-type=2&encoding-type=base64", {}, "InvalidArgument"],
    ["GET /bucket?list-type=2&fetch-owner=perhaps", {}, "InvalidArgument"],
    ["GET /bucket?list-type=3", {}, "InvalidArgument"],
    ["GET /bucket/a?uploadId=u&encoding-type=url", {}, "NotImplemented"],
  ];
  for (const [request, headers, code] of cases) {
    const [method = "", target = ""] = request.split(" ");
    const body = method === "PUT" ? { "content-length": "3" } : {};
    const refusal = refusalOf(() =>
      classify(method, target, Object.entries({ ...body, ...headers }).flat()),
    );
    t.equal(refusal?.code ?? null, code, `${request} ${JSON.stringify(headers)}`);
  }
});

t.test("a query parameter that nobody serves is named", async (t) => {
  for (const target of ["/bucket?acl", "/bucket?list-type=2&acl", "/bucket/a?acl"])
    t.match(
      refusalOf(() => classify("GET", target, [])),
      { code: "NotImplemented", message: /parameter acl / },
    );
});

t.test("a list of deletions holds what the engine looks at, and nothing else", async (t) => {
  const list = (object: string, more = ""): Buffer =>
    Buffer.from(`<Delete><Object><Key>a</Key>${object}</Object>${more}</Delete>`);
  t.strictSame(parseDeleteList(list("<VersionId>v</VersionId><ETag>&quot;e&quot;</ETag>")), [
    { key: "a", versionId: "v" },
  ]);
  parseDeleteList(list("", "<Quiet>true</Quiet>"));
  for (const [object, more, code, named] of [
    ["<Size>3</Size>", "", "NotImplemented", "Size"],
    [`<LastModifiedTime>${DATE}</LastModifiedTime>`, "", "NotImplemented", "LastModifiedTime"],
    ["<Of>x</Of>", "", "NotImplemented", "Of"],
    ["", "<Force>true</Force>", "NotImplemented", "Force"],
    ["", "<Quiet>perhaps</Quiet>", "MalformedXML", "Quiet"],
    ["<ETag></ETag>", "", "MalformedXML", "ETag"],
    ["<ETag>a</ETag><ETag>b</ETag>", "", "MalformedXML", "ETag"],
  ] as const)
    t.match(
      refusalOf(() => parseDeleteList(list(object, more))),
      { code, message: new RegExp(named) },
    );
});

t.test("dates are read as the engine reads them", async (t) => {
  const at = Date.UTC(2026, 0, 2, 3, 4, 5);
  t.equal(dateOf("Fri, 02 Jan 2026 03:04:05 GMT"), at);
  t.equal(dateOf("2026-01-02T03:04:05Z"), at);
  t.equal(dateOf("2026-01-02T03:04:05.123Z"), at);
  t.equal(dateOf("2026-01-02T05:04:05+02:00"), at);
  t.equal(dateOf("2026-01-02T01:04:05-02:00"), at);
  for (const none of [
    ...["", "x", "2026-01-02", "Fri, 02 Jan 2026 03:04:05", "Fri, 02 Jan 2026 25:04:05 GMT"],
    ...["2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "Fri, 02 Foo 2026 03:04:05 GMT"],
  ])
    t.equal(dateOf(none), null, none);
});
