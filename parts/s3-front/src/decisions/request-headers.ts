/** What the door reads of a request's headers. Each of them at most once: the engine might read another one than the door. */
import { S3Refusal } from "./s3-error.ts";

const READ = new Set([
  "authorization",
  "content-length",
  "expect",
  "host",
  "transfer-encoding",
  "x-amz-content-sha256",
  "x-amz-copy-source",
  "x-amz-copy-source-range",
  "x-amz-decoded-content-length",
]);
/** What clients say of a connection. Any other name there would take that header out of the request after it was read here. */
const SAID_OF_CONNECTION = new Set(["", "close", "keep-alive", "te", "upgrade"]);

/**
 * The headers that decide something, by lower-case name.
 * @param raw name, value, name, value … as they came
 * @throws S3Refusal InvalidArgument when one is there twice, or Connection names a header
 */
export function decisiveHeaders(raw: readonly string[]): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    if (name === "connection" && namesIn(raw[at + 1]).some((said) => !SAID_OF_CONNECTION.has(said)))
      throw new S3Refusal("InvalidArgument", "the header Connection names another header");
    if (!READ.has(name)) continue;
    if (found.has(name))
      throw new S3Refusal("InvalidArgument", `the header ${name} is given twice`);
    found.set(name, raw[at + 1] ?? "");
  }
  return found;
}

const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

const NONE: ReadonlySet<string> = new Set();

/**
 * All headers but those that speak of one connection (RFC 9110 §7.6.1), with their spelling, order and repetitions.
 * @param signed lower-case names of headers that the sender has signed: they stay (`s3cmd modify` signs `Keep-Alive`)
 */
export function endToEnd(raw: readonly string[], signed: ReadonlySet<string> = NONE): string[] {
  let named: Set<string> | null = null;
  for (let at = 0; at < raw.length; at += 2)
    if (raw[at]?.toLowerCase() === "connection")
      named = new Set([...(named ?? []), ...namesIn(raw[at + 1])]);
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const name = (raw[at] ?? "").toLowerCase();
    // A message's frame is not the connection's to remove.
    if (
      (HOP_BY_HOP.has(name) && (!signed.has(name) || name === "transfer-encoding")) ||
      (named?.has(name) === true &&
        name !== "content-length" &&
        name !== "host" &&
        !signed.has(name))
    )
      continue;
    kept.push(raw[at] ?? "", raw[at + 1] ?? "");
  }
  return kept;
}

/** What front and engine tell each other in their own headers; nobody else may write or read them. */
const TALK = new Set(["rt-proven", "rt-refused-objects"]);

export function withoutTalk(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2)
    if (!TALK.has((raw[at] ?? "").toLowerCase())) kept.push(raw[at] ?? "", raw[at + 1] ?? "");
  return kept;
}

/**
 * Without `aws-chunked` in Content-Encoding: that is how an upload came, and the engine stores it as if it were the object's own. A download has no
 * such frames, and browsers refuse what they can't decode.
 */
export function plainEncoding(raw: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < raw.length; at += 2) {
    const [name = "", value = ""] = raw.slice(at, at + 2);
    if (name.toLowerCase() !== "content-encoding") kept.push(name, value);
    else {
      const codings = value
        .split(",")
        .filter((coding) => !["", "aws-chunked"].includes(coding.trim().toLowerCase()));
      if (codings.length > 0) kept.push(name, codings.map((coding) => coding.trim()).join(", "));
    }
  }
  return kept;
}

function namesIn(list = ""): string[] {
  return list.split(",").map((name) => name.trim().toLowerCase());
}
