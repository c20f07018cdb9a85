import { S3Refusal } from "./s3-error.ts";

/** Headers that go no further than the door: they speak of one connection, of a browser, or between front and engine. */
const STAY_HERE = new Set([
  ...["connection", "trailer", "upgrade"],
  ...["cookie", "rt-proven", "rt-refused-objects"],
]);

/**
 * The headers that a request is signed with, by lower-case name: none of them may be taken off on its way.
 * @throws S3Refusal InvalidArgument for one that goes no further all the same: the signature could not hold without it
 */
export function signedHeaders(
  query: ReadonlyMap<string, string>,
  headers: ReadonlyMap<string, string>,
): ReadonlySet<string> {
  const list =
    query.get("X-Amz-SignedHeaders") ??
    /\bSignedHeaders=([^,\s]*)/.exec(headers.get("authorization") ?? "")?.[1] ??
    "";
  const names = new Set(list.toLowerCase().split(";"));
  for (const name of names)
    if (STAY_HERE.has(name))
      throw new S3Refusal(
        "InvalidArgument",
        `the header ${name} is signed and goes no further than this door: leave it out of the signature`,
      );
  return names;
}
