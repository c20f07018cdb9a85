/** Two processes' ends of one operation, over a real socket. */
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { Type } from "typebox";
import { ask } from "../../src/operations/ask.ts";
import { answering, type Answer, defineOperation } from "../../src/operations/operation.ts";
import { OperationError } from "../../src/operations/operation-error.ts";
import { HEALTH_PATH, serve } from "../../src/operations/serve.ts";

const TIMEOUT = { timeoutMs: 60_000 };
const add = defineOperation({
  name: "add",
  request: Type.Object(
    { one: Type.Integer(), other: Type.Integer() },
    { additionalProperties: false },
  ),
  reply: Type.Object({ sum: Type.Integer() }),
  codes: ["too_large"],
  maxRequestBytes: 256,
});
const adding = answering(add, async ({ one, other }) => {
  if (one > 1_000) throw new OperationError("too_large", "more than a thousand");
  if (one === 13) throw new Error("the secret is hunter2");
  return { sum: one + other };
});

async function served(
  t: Test,
  answers: readonly Answer[] = [adding],
): Promise<{ path: string; end: () => Promise<void>; log: string[] }> {
  const folder = mkdtempSync(join(tmpdir(), "rto-"));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  const log: string[] = [];
  const path = join(folder, "sock");
  const server = await serve({
    ...{ path, answers, health: () => ({ part: "adder" }) },
    log: pino({ level: "debug" }, { write: (line) => void log.push(line) }),
  });
  let isOver = false;
  const end = async (): Promise<void> => {
    if (!isOver) await server[Symbol.asyncDispose]();
    isOver = true;
  };
  t.teardown(end);
  return { path, end, log };
}

/** @param request the whole of it, byte by byte */
async function said(path: string, request: string): Promise<string> {
  const socket = connect(path);
  let text = "";
  socket.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
  socket.on("error", () => undefined);
  socket.write(request);
  if (!socket.closed) await new Promise((resolve) => socket.once("close", resolve));
  return text;
}

t.test("what is asked is answered, to many at once", async (t) => {
  const { path } = await served(t);
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, one) =>
      ask(path, add, { one, other: 1 }, TIMEOUT).catch(String),
    ),
  );
  t.same(
    answers.map((answer, one) => (one === 13 ? "-" : answer)),
    Array.from({ length: 40 }, (_, one) => (one === 13 ? "-" : { sum: one + 1 })),
  );
});

t.test("a refusal has its code, and a fault tells nothing but that there was one", async (t) => {
  const { path, log } = await served(t);
  await t.rejects(ask(path, add, { one: 2_000, other: 1 }, TIMEOUT), {
    ...{ code: "too_large", message: "more than a thousand" },
  });
  const fault = await ask(path, add, { one: 13, other: 1 }, TIMEOUT).catch(
    (error: unknown) => error,
  );
  t.match(fault, { code: "internal" });
  t.notMatch(String(fault), /hunter2/);
  t.match(log.join(""), /hunter2/);
});

t.test("a code that the operation does not name is a fault of who answers", async (t) => {
  const odd = answering(add, async () => {
    throw new OperationError("of_another", "what nobody expects");
  });
  const { path, log } = await served(t, [odd]);
  await t.rejects(ask(path, add, { one: 1, other: 1 }, TIMEOUT), { code: "internal" });
  t.match(log.join(""), /what nobody expects/);
});

t.test("a request of another form is refused before anything is done for it", async (t) => {
  let count = 0;
  const counted = answering(add, async () => ({ sum: ++count }));
  const { path } = await served(t, [counted]);
  const wrong = (request: object) =>
    ask(path, add, request as { one: number; other: number }, TIMEOUT);
  await t.rejects(wrong({ one: 1 }), { code: "invalid_request", message: /other/ });
  await t.rejects(wrong({ one: 1, other: "2" }), { code: "invalid_request", message: /other/ });
  await t.rejects(wrong({ one: 1, other: 2, more: 3 }), { code: "invalid_request" });
  await t.rejects(wrong({ one: 1, other: 2, more: "x".repeat(300) }), { code: "request_too_long" });
  const post = (body: string) =>
    said(path, `POST /add HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  t.match(await post("{"), /400 Bad Request[\s\S]*invalid_request/);
  t.match(await post(""), /400 Bad Request[\s\S]*invalid_request/);
  t.match(await said(path, "GET /add HTTP/1.1\r\nhost: x\r\n\r\n"), /404[\s\S]*unknown_operation/);
  t.match(await said(path, "POST /sub HTTP/1.1\r\nhost: x\r\ncontent-length: 0\r\n\r\n"), /404/);
  t.match(await said(path, "hello\r\n\r\n"), /400 Bad Request/);
  t.equal(count, 0);
});

t.test("who breaks off costs nobody else an answer", async (t) => {
  const { path } = await served(t);
  for (const begun of [
    "",
    "POST /add HTTP/1.1\r\n",
    "POST /add HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\n{",
  ]) {
    const socket = connect(path);
    await once(socket, "connect");
    socket.write(begun);
    socket.destroy();
  }
  t.same(await ask(path, add, { one: 1, other: 2 }, TIMEOUT), { sum: 3 });
});

t.test("the end lets nobody in, and waits for who is being answered", async (t) => {
  const begun = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  const slow = answering(add, async () => {
    begun.resolve();
    await goOn.promise;
    return { sum: 0 };
  });
  const { path, end } = await served(t, [slow]);
  const idle = connect(path);
  idle.on("error", () => undefined);
  const answer = ask(path, add, { one: 1, other: 2 }, TIMEOUT);
  await begun.promise;
  const ended = end();
  await t.rejects(ask(path, add, { one: 1, other: 2 }, TIMEOUT), { code: "part_away" });
  goOn.resolve();
  t.same(await answer, { sum: 0 });
  await ended;
  idle.destroy();
});

t.test("nobody there, a hung one and a stranger are all away", async (t) => {
  const goOn = Promise.withResolvers<{ sum: number }>();
  const { path } = await served(t, [answering(add, () => goOn.promise)]);
  await t.rejects(ask(path, add, { one: 1, other: 2 }, { timeoutMs: 200 }), { code: "part_away" });
  goOn.resolve({ sum: 0 });
  await t.rejects(ask(join(path, "none"), add, { one: 1, other: 2 }, TIMEOUT), {
    code: "part_away",
  });
  const other = { ...adding, answer: async () => ({ total: 3 }) };
  const strange = await served(t, [other]);
  await t.rejects(ask(strange.path, add, { one: 1, other: 2 }, TIMEOUT), {
    ...{ code: "part_away", message: /another form/ },
  });
});

t.test("its folder lets in who may ask: one that is open to everybody is refused", async (t) => {
  const folder = t.testdir();
  const open = join(folder, "open");
  mkdirSync(open, { mode: 0o755 });
  const log = pino({ level: "silent" });
  const all = { answers: [adding], health: () => ({}), log };
  await t.rejects(serve({ ...all, path: join(open, "sock") }), /open to everybody/);
  const own = mkdtempSync(join(tmpdir(), "rto-"));
  t.teardown(() => rmSync(own, { recursive: true, force: true }));
  // What a killed one left is in nobody's way.
  writeFileSync(join(own, "sock"), "");
  const server = await serve({ ...all, path: join(own, "sock") });
  t.equal(statSync(join(own, "sock")).mode & 0o777, 0o660);
  await server[Symbol.asyncDispose]();
});

t.test("it says how it is", async (t) => {
  const { path } = await served(t);
  const asked = request({ socketPath: path, path: HEALTH_PATH, agent: false });
  asked.end();
  const [answer] = await once(asked, "response");
  t.equal(answer.statusCode, 200);
  t.same(JSON.parse(String((await once(answer, "data"))[0])), { part: "adder" });
});
