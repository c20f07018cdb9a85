/**
 * The closed table of S3 operations that pass the door. What is not here is answered 501: a request that nobody has classified could not
 * be recorded, counted or held to the export switch.
 */
type Level = "service" | "bucket" | "object";
type Method = "GET" | "HEAD" | "PUT" | "POST" | "DELETE" | "PATCH";

/** What an operation leaves in the audit log; see records.ts. */
export type Trace =
  | { kind: "read"; aspect?: string }
  | { kind: "list" }
  | { kind: "inspect"; aspect: string }
  | { kind: "write" }
  | { kind: "delete" }
  | { kind: "delete-many" }
  | { kind: "change"; aspect: string }
  | { kind: "bucket-change"; aspect: string }
  | { kind: "multipart"; step: "open" | "complete" | "abort" }
  | { kind: "key-change" }
  /** Belongs to its multipart upload, whose opening and end are recorded. */
  | { kind: "part" };

export type Operation = {
  /** S3's name; the record's `action` says `S3 <name>`. */
  name: string;
  method: Method;
  level: Level;
  /** Query parameters that must be there; with method and level they select the operation, the most parameters first. */
  selectors: readonly string[];
  /** Query parameters that may be there besides. */
  optional: readonly string[];
  /** Whether `x-amz-copy-source` must, or must not, be there. */
  copies: boolean;
  /** `object` streams, `document` is small, `none` has no body. */
  body: "object" | "document" | "none";
  trace: Trace;
};

const operation = (
  name: string,
  request: `${Method} ${Level}`,
  selectors: readonly string[],
  trace: Trace,
  rest: Partial<Pick<Operation, "optional" | "copies" | "body">> = {},
): Operation => {
  const [method, level] = request.split(" ") as [Method, Level];
  return {
    name,
    method,
    level,
    selectors,
    trace,
    optional: [],
    copies: false,
    body: "none",
    ...rest,
  };
};

/** `metadata` asks for more than S3 lists; MinIO's clients read a listing without it as well. */
const LISTING = ["prefix", "delimiter", "encoding-type", "metadata"];
const OVERRIDES = [
  "cache-control",
  "content-disposition",
  "content-encoding",
  "content-language",
  "content-type",
  "expires",
].map((header) => `response-${header}`);
const document = { body: "document" } as const;
const versioned = { optional: ["versionId"] };

export const OPERATIONS: readonly Operation[] = [
  operation(
    "ListBuckets",
    "GET service",
    [],
    { kind: "list" },
    { optional: ["prefix", "max-buckets", "continuation-token"] },
  ),

  operation(
    "CreateBucket",
    "PUT bucket",
    [],
    { kind: "bucket-change", aspect: "bucket" },
    document,
  ),
  operation("DeleteBucket", "DELETE bucket", [], { kind: "bucket-change", aspect: "bucket" }),
  operation("HeadBucket", "HEAD bucket", [], { kind: "inspect", aspect: "bucket" }),
  operation("GetBucketLocation", "GET bucket", ["location"], {
    kind: "inspect",
    aspect: "location",
  }),
  ...(["policy", "tagging", "ownershipControls"] as const).flatMap((subresource) => {
    const name = { policy: "Policy", tagging: "Tagging", ownershipControls: "OwnershipControls" }[
      subresource
    ];
    const aspect = subresource;
    return [
      operation(`GetBucket${name}`, "GET bucket", [subresource], { kind: "inspect", aspect }),
      operation(
        `PutBucket${name}`,
        "PUT bucket",
        [subresource],
        { kind: "bucket-change", aspect },
        document,
      ),
      operation(`DeleteBucket${name}`, "DELETE bucket", [subresource], {
        kind: "bucket-change",
        aspect,
      }),
    ];
  }),
  operation("GetBucketVersioning", "GET bucket", ["versioning"], {
    kind: "inspect",
    aspect: "versioning",
  }),
  operation(
    "PutBucketVersioning",
    "PUT bucket",
    ["versioning"],
    { kind: "bucket-change", aspect: "versioning" },
    document,
  ),
  operation("GetObjectLockConfiguration", "GET bucket", ["object-lock"], {
    kind: "inspect",
    aspect: "object-lock",
  }),
  operation(
    "PutObjectLockConfiguration",
    "PUT bucket",
    ["object-lock"],
    { kind: "bucket-change", aspect: "object-lock" },
    document,
  ),
  operation(
    "ListObjects",
    "GET bucket",
    [],
    { kind: "list" },
    { optional: [...LISTING, "marker", "max-keys"] },
  ),
  operation(
    "ListObjectsV2",
    "GET bucket",
    ["list-type"],
    { kind: "list" },
    {
      optional: [...LISTING, "continuation-token", "start-after", "max-keys", "fetch-owner"],
    },
  ),
  operation(
    "ListObjectVersions",
    "GET bucket",
    ["versions"],
    { kind: "list" },
    {
      optional: [...LISTING, "key-marker", "version-id-marker", "max-keys"],
    },
  ),
  operation(
    "ListMultipartUploads",
    "GET bucket",
    ["uploads"],
    { kind: "list" },
    {
      optional: [
        ...["prefix", "delimiter", "encoding-type"],
        ...["key-marker", "upload-id-marker", "max-uploads"],
      ],
    },
  ),
  operation("DeleteObjects", "POST bucket", ["delete"], { kind: "delete-many" }, document),

  operation(
    "GetObject",
    "GET object",
    [],
    { kind: "read" },
    { optional: ["versionId", "partNumber", ...OVERRIDES] },
  ),
  operation(
    "HeadObject",
    "HEAD object",
    [],
    { kind: "read" },
    { optional: ["versionId", "partNumber", ...OVERRIDES] },
  ),
  operation("GetObjectAttributes", "GET object", ["attributes"], { kind: "read" }, versioned),
  operation("PutObject", "PUT object", [], { kind: "write" }, { body: "object" }),
  operation("CopyObject", "PUT object", [], { kind: "write" }, { copies: true }),
  operation("DeleteObject", "DELETE object", [], { kind: "delete" }, versioned),
  operation("CreateMultipartUpload", "POST object", ["uploads"], {
    kind: "multipart",
    step: "open",
  }),
  operation(
    "UploadPart",
    "PUT object",
    ["uploadId", "partNumber"],
    { kind: "part" },
    { body: "object" },
  ),
  operation(
    "UploadPartCopy",
    "PUT object",
    ["uploadId", "partNumber"],
    { kind: "part" },
    { copies: true },
  ),
  operation(
    "ListParts",
    "GET object",
    ["uploadId"],
    { kind: "part" },
    {
      optional: ["max-parts", "part-number-marker"],
    },
  ),
  operation(
    "CompleteMultipartUpload",
    "POST object",
    ["uploadId"],
    { kind: "multipart", step: "complete" },
    document,
  ),
  operation("AbortMultipartUpload", "DELETE object", ["uploadId"], {
    kind: "multipart",
    step: "abort",
  }),
  ...(["tagging", "retention", "legal-hold"] as const).flatMap((subresource) => {
    const name = { tagging: "Tagging", retention: "Retention", "legal-hold": "LegalHold" }[
      subresource
    ];
    const aspect = subresource;
    return [
      operation(`GetObject${name}`, "GET object", [subresource], { kind: "read" }, versioned),
      operation(
        `PutObject${name}`,
        "PUT object",
        [subresource],
        { kind: "change", aspect },
        { ...versioned, ...document },
      ),
    ];
  }),
  operation(
    "DeleteObjectTagging",
    "DELETE object",
    ["tagging"],
    { kind: "change", aspect: "tagging" },
    versioned,
  ),
];

/** The engine's own calls for key pairs; the coordinator's alone. */
export const KEY_CALLS: ReadonlyMap<string, Operation> = new Map([
  ["/create-user", operation("CreateUser", "PATCH service", [], { kind: "key-change" }, document)],
  ["/delete-user", operation("DeleteUser", "PATCH service", ["access"], { kind: "key-change" })],
]);

/** Query authentication (SigV4); the engine reads it by exactly these names. */
export const SIGNING: ReadonlySet<string> = new Set(
  [
    "Algorithm",
    "Credential",
    "Date",
    "Expires",
    "SignedHeaders",
    "Signature",
    "Content-Sha256",
    "Security-Token",
  ].map((name) => `X-Amz-${name}`),
);
/** Fields of S3's own are looked at by name (request-fields.ts). */
const isAccompanying = (name: string): boolean => name === "x-id" || /^x-amz-/i.test(name);

/** The one operation that the request is; null when it is none of the table. */
export function findOperation(
  method: string,
  level: Level,
  query: ReadonlyMap<string, string>,
  copies: boolean,
): Operation | null {
  const names = [...query.keys()].filter((name) => !isAccompanying(name));
  const isMatch = (known: Operation): boolean =>
    known.method === method &&
    known.level === level &&
    known.copies === copies &&
    known.selectors.every((name) => query.has(name)) &&
    names.every((name) => known.selectors.includes(name) || known.optional.includes(name));
  const matches = OPERATIONS.filter(isMatch);
  return matches.length === 1 ? (matches[0] ?? null) : null;
}

/** A query parameter for which the request is no operation of the table; null where it is none for another reason. */
export function unservedParameter(
  method: string,
  level: Level,
  query: ReadonlyMap<string, string>,
): string | null {
  const known = OPERATIONS.filter(
    (one) =>
      one.method === method &&
      one.level === level &&
      one.selectors.every((name) => query.has(name)),
  ).sort((a, b) => b.selectors.length - a.selectors.length)[0];
  if (known === undefined) return null;
  const { selectors, optional } = known;
  return (
    [...query.keys()].find(
      (name) => !isAccompanying(name) && !selectors.includes(name) && !optional.includes(name),
    ) ?? null
  );
}

/** Whether nothing but what selects or accompanies it is in the query. */
export function hasOnly(query: ReadonlyMap<string, string>, names: readonly string[]): boolean {
  return (
    names.every((name) => query.has(name)) &&
    [...query.keys()].every((name) => names.includes(name) || isAccompanying(name))
  );
}

/** Tells whether a request carries its signature in the query: the engine then ignores the Authorization header. */
export function isQuerySigned(query: ReadonlyMap<string, string>): boolean {
  return [...query.keys()].some((name) => SIGNING.has(name));
}
