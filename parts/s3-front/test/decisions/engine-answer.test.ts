import fc from "fast-check";
import t from "tap";
import { parseAnswerHead } from "../../src/decisions/answer-head.ts";
import { ChunkedBody } from "../../src/decisions/chunked-body.ts";
import { PartTally } from "../../src/decisions/part-tally.ts";

t.test("a head says how its body ends and whether the connection stays", async (t) => {
  const heads: [string, boolean, object][] = [
    [
      "HTTP/1.1 200 OK\r\nContent-Length: 5",
      false,
      { status: 200, frame: { kind: "length", bytes: 5 }, keepsOpen: true },
    ],
    ["HTTP/1.1 200 OK\r\nContent-Length: 5", true, { frame: { kind: "none" }, keepsOpen: true }],
    ["HTTP/1.1 204 No Content", false, { frame: { kind: "none" }, keepsOpen: true }],
    ["HTTP/1.1 304 Not Modified\r\nContent-Length: 5", false, { frame: { kind: "none" } }],
    [
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked",
      false,
      { frame: { kind: "chunked" }, keepsOpen: true },
    ],
    ["HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0", false, { keepsOpen: false }],
    ["HTTP/1.1 200 OK\r\nServer: x", false, { frame: { kind: "close" }, keepsOpen: false }],
    ["HTTP/1.1 100 Continue", false, { status: 100, frame: { kind: "none" } }],
  ];
  for (const [text, isHead, expected] of heads)
    t.match(parseAnswerHead(text, isHead), expected, text);
  t.same(parseAnswerHead("HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2:3", false).rawHeaders, [
    "X-A",
    "1",
    "x-a",
    "2:3",
  ]);
  for (const text of [
    "",
    "HTTP/1.0 200 OK",
    "HTTP/1.1 200 OK\r\nnothing",
    "HTTP/1.1 200 OK\r\nContent-Length: -1",
  ])
    t.throws(() => parseAnswerHead(text, false), SyntaxError, text);
});

t.test("a chunked body is its content, wherever it is cut", async (t) => {
  const chunked = (parts: Uint8Array[]) =>
    Buffer.concat([
      ...parts.flatMap((part) => [
        Buffer.from(`${part.length.toString(16)}\r\n`),
        part,
        Buffer.from("\r\n"),
      ]),
      Buffer.from("0\r\n\r\n"),
    ]);
  const part = fc.uint8Array({ minLength: 1, maxLength: 40 });
  fc.assert(
    fc.property(
      fc.array(part),
      fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }),
      (parts, cuts) => {
        const body = new ChunkedBody();
        const wire = chunked(parts);
        const content: Buffer[] = [];
        for (let at = 0, n = 0; at < wire.length; n++) {
          const step = cuts[n % cuts.length]!;
          content.push(body.push(wire.subarray(at, at + step)));
          at += step;
        }
        return body.isEnded && Buffer.concat(content).equals(Buffer.concat(parts));
      },
    ),
  );
  for (const wire of ["x\r\n", "1\r\nab\r\n", "0\r\n\r\nmore", "1".repeat(2000)])
    t.throws(() => new ChunkedBody().push(Buffer.from(wire)), SyntaxError, wire.slice(0, 20));
});

t.test("the parts of a list are counted, wherever it is cut", async (t) => {
  const list = Buffer.from(
    "<CompleteMultipartUpload>" + "<Part><PartNumber>1</PartNumber></Part>".repeat(7),
  );
  for (let step = 1; step < 60; step++) {
    const tally = new PartTally();
    for (let at = 0; at < list.length; at += step) tally.push(list.subarray(at, at + step));
    t.equal(tally.parts, 7, `in pieces of ${step}`);
  }
});
