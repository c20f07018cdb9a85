/** What the door makes of the engine's answers. */
import t from "tap";
import { classify } from "../../src/decisions/classify.ts";
import { codesOfDeletions } from "../../src/decisions/delete-list.ts";
import { aboutOwnBucket } from "../../src/decisions/own-buckets.ts";
import { askerOf, type Principal } from "../../src/decisions/principal.ts";
import { endOfDeletions, readRecord } from "../../src/decisions/records.ts";
import { plainEncoding, withoutTalk } from "../../src/decisions/request-headers.ts";

const user: Principal = {
  ...{ kind: "user", subject: "u_1", accessKeyId: "RT01" },
  bucket: { name: "alice-1", createdAt: 0 },
};
const signed = [
  "authorization",
  "AWS4-HMAC-SHA256 Credential=RTKEY/20260101/garage/s3/aws4_request, Signature=0",
];
const asked = (method: string, target: string) => classify(method, target, signed);

t.test(
  "each deletion has its own code, by key and version, and the request one of all",
  async (t) => {
    const listed = [
      { key: "a", versionId: null, job: null },
      { key: "b & c", versionId: null, job: "j_1" },
      { key: "a", versionId: "v1", job: null },
    ];
    const error = (key: string, version: string, code: string): string =>
      `<Error><Key>${key}</Key><VersionId>${version}</VersionId><Code>${code}</Code><Message>x</Message></Error>`;
    const document = (...errors: string[]): string =>
      `<?xml version="1.0"?><DeleteResult>${errors.join("")}</DeleteResult>`;
    const denied = error("b &amp; c", "", "AccessDenied");
    for (const [text, codes, phase, code] of [
      [document(), ["ok", "ok", "ok"], "completed", "ok"],
      [document(denied), ["ok", "AccessDenied", "ok"], "failed", "partial"],
      [
        document(denied, error("a", "v1", "NoSuchVersion")),
        ["ok", "AccessDenied", "NoSuchVersion"],
        "failed",
        "partial",
      ],
      [
        document(denied, error("a", "v1", "AccessDenied"), error("a", "", "AccessDenied")),
        ["AccessDenied", "AccessDenied", "AccessDenied"],
        "denied",
        "AccessDenied",
      ],
      [
        document(denied, error("a", "v1", "Internal"), error("a", "", "Internal")),
        ["Internal", "AccessDenied", "Internal"],
        "failed",
        "Internal",
      ],
    ] as const) {
      t.strictSame(codesOfDeletions(text, listed), codes);
      const end = endOfDeletions(asked("POST", "/alice-1?delete"), "u_1", listed, codes);
      t.match(end, { phase, code });
      t.strictSame(
        end.objects.map(({ outcome }) => outcome?.code),
        codes,
      );
    }
  },
);

t.test("a read that was refused is none, whatever was asked", async (t) => {
  const answer = (status: number, code: string | null) => ({ status, code, bytes: 5 });
  for (const [target, status, code, type, outcome] of [
    ["/alice-1/x", 200, null, "data.object.read", "ok"],
    ["/alice-1/x", 404, "NoSuchKey", "data.object.read", "NoSuchKey"],
    ["/alice-1/x", 403, "SignatureDoesNotMatch", "data.object.refused", "SignatureDoesNotMatch"],
    ["/alice-1/x", 403, null, "data.object.refused", "Http403"],
    ["/alice-1", 200, null, "data.bucket.list", "ok"],
    ["/alice-1", 403, "AccessDenied", "data.bucket.refused", "AccessDenied"],
    ["/alice-1?policy", 401, "AccessDenied", "data.bucket.refused", "AccessDenied"],
    ["/", 403, "InvalidAccessKeyId", "auth.refused", "InvalidAccessKeyId"],
  ] as const)
    t.match(
      readRecord(asked("GET", target), "u_1", answer(status, code)),
      { type, outcome: { code: outcome, status } },
      `${target} ${status}`,
    );
});

t.test("whose signature was not proven is no actor", async (t) => {
  t.strictSame(askerOf(user, true), {
    ...{ actor: { sub: "u_1", kind: "user", azp: "RT01" }, claimed: null },
  });
  t.strictSame(askerOf(user, false), {
    actor: { sub: "unproven", kind: "anonymous" },
    claimed: "u_1",
  });
  t.strictSame(askerOf({ kind: "coordinator" }, false), {
    actor: { sub: "unproven", kind: "anonymous" },
    claimed: "coordinator",
  });
  t.match(askerOf({ kind: "unknown" }, false), { actor: { sub: "unknown-key" }, claimed: null });
});

t.test("the own bucket is told to its owner alone", async (t) => {
  const list = asked("GET", "/?prefix=al");
  t.match(
    aboutOwnBucket(list, user, true, { status: 200, code: null })?.document,
    /<Name>alice-1<\/Name>/,
  );
  t.notMatch(
    aboutOwnBucket(asked("GET", "/?prefix=b"), user, true, { status: 200, code: null })?.document,
    /<Name>/,
  );
  const make = asked("PUT", "/alice-1");
  t.match(aboutOwnBucket(make, user, true, { status: 403, code: "AccessDenied" }), {
    status: 409,
    code: "BucketAlreadyOwnedByYou",
  });
  for (const [request, principal, isProven, status, code] of [
    [list, user, false, 200, null],
    [list, user, true, 403, "AccessDenied"],
    [list, { kind: "coordinator" }, true, 200, null],
    [make, user, false, 403, "AccessDenied"],
    [make, user, true, 403, "SignatureDoesNotMatch"],
    [asked("PUT", "/bob-1"), user, true, 403, "AccessDenied"],
  ] as const)
    t.equal(aboutOwnBucket(request, principal, isProven, { status, code }), null);
});

t.test("headers of an answer are the object's own", async (t) => {
  for (const [given, kept] of [
    ["aws-chunked", null],
    ["gzip, AWS-Chunked", "gzip"],
    ["aws-chunked,gzip,br", "gzip, br"],
    ["gzip", "gzip"],
  ] as const)
    t.strictSame(plainEncoding(["ETag", "x", "Content-Encoding", given]), [
      "ETag",
      "x",
      ...(kept === null ? [] : ["Content-Encoding", kept]),
    ]);
  t.strictSame(withoutTalk(["Rt-Proven", "k", "A", "1", "RT-REFUSED-OBJECTS", "2"]), ["A", "1"]);
});
