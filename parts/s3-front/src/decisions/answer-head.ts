/** The head of an HTTP/1.1 answer, read as the engine of the appliance writes it: a peer that is trusted, and still held to the form. */

/** How the end of the body is told. */
export type BodyFrame =
  | { kind: "none" }
  | { kind: "length"; bytes: number }
  | { kind: "chunked" }
  | { kind: "close" };

export type AnswerHead = {
  status: number;
  reason: string;
  /** Name, value, name, value … as they came. */
  rawHeaders: string[];
  /** By lower-case name; of repeated ones the last. */
  headers: ReadonlyMap<string, string>;
  frame: BodyFrame;
  /** Whether another request may follow on the connection. */
  keepsOpen: boolean;
};

/**
 * @param text the head up to its empty line, one character a byte
 * @param isHead whether HEAD was asked: there is no body then, whatever the headers say
 * @throws SyntaxError
 */
export function parseAnswerHead(text: string, isHead: boolean): AnswerHead {
  const [statusLine = "", ...lines] = text.split("\r\n");
  const [, code, reason] = /^HTTP\/1\.1 ([1-5]\d\d)(?: (.*))?$/.exec(statusLine) ?? [];
  if (code === undefined) throw new SyntaxError("the object store's answer has no status line");
  const status = Number(code);
  const rawHeaders: string[] = [];
  const headers = new Map<string, string>();
  for (const line of lines) {
    const colonAt = line.indexOf(":");
    if (colonAt < 1) throw new SyntaxError("the object store's answer has a header that is none");
    const [name, value] = [line.slice(0, colonAt), line.slice(colonAt + 1).trim()];
    rawHeaders.push(name, value);
    headers.set(name.toLowerCase(), value);
  }
  const frame = frameOf(status, headers, isHead);
  const keepsOpen = frame.kind !== "close" && headers.get("connection")?.toLowerCase() !== "close";
  return { status, reason: reason ?? "", rawHeaders, headers, frame, keepsOpen };
}

function frameOf(status: number, headers: ReadonlyMap<string, string>, isHead: boolean): BodyFrame {
  if (isHead || status < 200 || status === 204 || status === 304) return { kind: "none" };
  const transfer = headers.get("transfer-encoding");
  if (transfer !== undefined) {
    if (transfer.toLowerCase() !== "chunked")
      throw new SyntaxError("the object store's answer has a strange frame");
    return { kind: "chunked" };
  }
  const length = headers.get("content-length");
  if (length === undefined) return { kind: "close" };
  if (!/^\d{1,15}$/.test(length))
    throw new SyntaxError("the object store's answer has a strange length");
  return { kind: "length", bytes: Number(length) };
}
