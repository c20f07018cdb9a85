/** Questions whose answers are lines, over a real socket. */
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t, { type Test } from "tap";
import { askLine, askLines } from "../../src/operations/ask-lines.ts";
import { OperationError } from "../../src/operations/operation-error.ts";
import { type LineAnswer, serveLines } from "../../src/operations/serve-lines.ts";

const SILENCE_MS = 10_000;
/** More than sockets of the kernel hold between two that do not read. */
const LONG = "x".repeat(256 * 1024);

async function served(t: Test, answer: LineAnswer) {
  const folder = mkdtempSync(join(tmpdir(), "rtl-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "sock");
  const server = await serveLines({
    ...{ path, mode: 0o660, maxRequestBytes: 64, maxConnections: 4, answer },
    errorOf: (error) =>
      error instanceof OperationError
        ? { code: error.code, message: error.message }
        : { code: "internal", message: "it failed" },
  });
  let isOver = false;
  const end = async (lastWordsMs = 0): Promise<void> => {
    if (isOver) return;
    isOver = true;
    await server.end(lastWordsMs);
  };
  t.teardown(() => end());
  return { path, end };
}

async function allOf(lines: AsyncIterable<object>): Promise<object[]> {
  const all: object[] = [];
  for await (const line of lines) all.push(line);
  return all;
}

t.test("a question is answered by its last line, after as many as are given", async (t) => {
  const { path } = await served(t, async (asked, give) => {
    const { count } = asked as { count: number };
    for (let n = 0; n < count; n += 1) await give({ n });
    return { asked };
  });
  t.equal(statSync(path).mode & 0o777, 0o660);
  t.same(await allOf(askLines(path, { verb: "count", ...{ count: 2 } }, SILENCE_MS)), [
    { n: 0 },
    { n: 1 },
    { asked: { verb: "count", count: 2 } },
  ]);
  t.same(await askLine(path, { verb: "look" }, SILENCE_MS), { asked: { verb: "look" } });
});

t.test("a refusal has its code before the first line and after it", async (t) => {
  const given = { lines: 0 };
  const { path } = await served(t, async (_asked, give) => {
    for (let n = 0; n < given.lines; n += 1) await give({ n });
    throw new OperationError("not_now", "later");
  });
  const told = { name: "OperationError", code: "not_now", message: "later" };
  await t.rejects(askLine(path, { verb: "look" }, SILENCE_MS), told);
  given.lines = 1;
  const lines = askLines(path, { verb: "look" }, SILENCE_MS);
  t.same((await lines.next()).value, { n: 0 });
  await t.rejects(lines.next(), told);
});

t.test("what is no question is told so to whoever answers, which may refuse it", async (t) => {
  const asked: unknown[] = [];
  const { path } = await served(t, async (question) => {
    asked.push(question);
    throw new OperationError("no_question", "none");
  });
  const send = async (head: string, body: string): Promise<string> => {
    const socket = connect(path);
    socket.write(`${head} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    let text = "";
    for await (const chunk of socket.setEncoding("utf8")) text += String(chunk);
    return text;
  };
  for (const [head, body] of [
    ["POST /look", "[]"],
    ["POST /look", "null"],
    ["POST /look", "no json"],
    ["POST /look", `{"a":"${"x".repeat(64)}"}`],
    ["POST /Look/at", "{}"],
    ["PUT /look", "{}"],
  ] as const)
    t.match(
      await send(head, body),
      /^HTTP\/1\.1 409 [\s\S]*"code":"no_question"/,
      `${head} ${body}`,
    );
  t.same(asked, [null, null, null, null, null, null]);
  t.match(await send("POST /look", '{"verb":"another"}'), /409/);
  t.same(asked.at(-1), { verb: "look" }, "the verb is where it was sent");
});

t.test("whoever gives lines waits for whoever takes them, and hears of an end", async (t) => {
  let given = 0;
  const ended = Promise.withResolvers<unknown>();
  const { path } = await served(t, async (_asked, give) => {
    try {
      for (;;) {
        await give({ LONG });
        given += 1;
      }
    } catch (error) {
      ended.resolve(error);
      throw error;
    }
  });
  const socket = connect(path).pause();
  socket.on("error", () => {});
  socket.write("POST /look HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}");
  await once(socket, "readable");
  t.ok(given < 100, `${given} lines wait, and no more are made`);
  socket.destroy();
  t.match(await ended.promise, { code: "receiver_gone" });
});

t.test("at its end it lets nobody in, and who is being answered has some time", async (t) => {
  const going = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const { path, end } = await served(t, async () => {
    asked.resolve();
    await going.promise;
    return { last: true };
  });
  const answer = askLine(path, { verb: "look" }, SILENCE_MS);
  await asked.promise;
  const over = end(SILENCE_MS);
  await t.rejects(askLine(path, { verb: "look" }, SILENCE_MS), { code: "part_away" });
  going.resolve();
  t.same(await answer, { last: true });
  await over;
});

t.test("who does not ask is told that somebody is there by the end of the line", async (t) => {
  const { path } = await served(t, async () => ({}));
  const socket = connect(path).resume();
  socket.end();
  await once(socket, "end");
  t.equal(socket.bytesRead, 0);
});
