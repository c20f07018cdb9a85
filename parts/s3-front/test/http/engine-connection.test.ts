import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t, { type Test } from "tap";
import { Engine } from "../../src/http/engine.ts";
import { EngineConnection } from "../../src/http/engine-connection.ts";

const LIMIT_MS = 30_000;
const READ_BYTES = { first: 256, long: 1024 };
/** Of one letter of a long body. */
const RUN_BYTES = 1024;

/** An engine that answers each request with these pieces, each in a packet of its own, and may hang up after a while. */
async function engineOf(
  t: Test,
  pieces: readonly string[],
  { hangUpMs, heard }: { hangUpMs?: number; heard?: string[] } = {},
): Promise<string> {
  // Shorter than a test's own folder, whose name a socket's address can't hold.
  const folder = mkdtempSync(join(tmpdir(), "engine-"));
  const path = join(folder, "s");
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    const answer = async (): Promise<void> => {
      for (const piece of pieces) {
        socket.write(piece);
        await sleep(20);
      }
      if (hangUpMs !== undefined) setTimeout(() => socket.destroySoon(), hangUpMs);
    };
    socket.on("data", (bytes: Buffer) => {
      heard?.push(bytes.toString("latin1"));
      void answer();
    });
  });
  server.listen(path);
  await once(server, "listening");
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
    rmSync(folder, { recursive: true });
  });
  return path;
}

function connectionTo(t: Test, path: string): EngineConnection {
  const connection = new EngineConnection(
    path,
    READ_BYTES,
    () => {},
    () => {},
  );
  t.teardown(() => connection.destroy(new Error("the test is over")));
  return connection;
}

const ask = (connection: EngineConnection) => {
  const answered = connection.ask({
    method: "GET",
    target: "/",
    rawHeaders: [],
    onContinue: () => {},
    onDrain: () => {},
  });
  connection.end();
  return answered;
};

async function bodyOf(connection: EngineConnection, isPatient: boolean): Promise<string> {
  await ask(connection);
  return await passed(connection, isPatient);
}

async function passed(connection: EngineConnection, isPatient: boolean): Promise<string> {
  let text = "";
  await connection.pass((bytes, done) => {
    text += Buffer.from(bytes).toString("latin1");
    if (isPatient) setImmediate(done);
    else done();
  });
  return text;
}

const within = async (work: Promise<string>): Promise<string> =>
  await Promise.race([work, sleep(LIMIT_MS, "it stalled", { ref: false })]);

const whole = "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n";
const chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";

for (const isPatient of [false, true])
  t.test(
    `a body is whole however it is cut, whether its taker is done ${isPatient ? "later" : "at once"}`,
    async (t) => {
      for (const pieces of [
        [whole, "abc", "def", "ghi"],
        [`${whole}abc`, "def", "ghi"],
        [chunked, "3\r\n", "abc", "\r\n6\r\nd", "efghi\r\n", "0\r", "\n\r\n"],
      ]) {
        const path = await engineOf(t, pieces);
        const connection = connectionTo(t, path);
        t.equal(
          await within(bodyOf(connection, isPatient)),
          "abcdefghi",
          pieces.slice(1).join("|"),
        );
        t.equal(
          await within(bodyOf(connection, isPatient)),
          "abcdefghi",
          "and so is the next on the same connection",
        );
      }
    },
  );

t.test("an idle connection that the engine closes is known as closed", async (t) => {
  const path = await engineOf(t, [whole, "abcdefghi"], { hangUpMs: 50 });
  let isIdle = false;
  const closed = Promise.withResolvers<string>();
  const connection = new EngineConnection(
    path,
    READ_BYTES,
    () => (isIdle = true),
    () => closed.resolve("closed"),
  );
  t.equal(await within(bodyOf(connection, false)), "abcdefghi");
  t.equal(isIdle, true);
  t.equal(await within(closed.promise), "closed");
});

t.test("a piece is read while the one before is on its way, and none over another", async (t) => {
  const letters = "abcdefghijkl".split("");
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${letters.length * RUN_BYTES}\r\n\r\n`;
  const path = await engineOf(t, [
    head,
    letters.map((letter) => letter.repeat(RUN_BYTES)).join(""),
  ]);
  const connection = connectionTo(t, path);
  await ask(connection);
  let [text, under, most] = ["", 0, 0];
  const sizes: number[] = [];
  await connection.pass((bytes, done) => {
    const [before, no] = [Buffer.from(bytes).toString("latin1"), ++under];
    most = Math.max(most, under);
    sizes.push(bytes.length);
    setTimeout(() => {
      t.equal(Buffer.from(bytes).toString("latin1"), before, `piece with ${no} under way`);
      text += before;
      under -= 1;
      done();
    }, 10);
  });
  t.equal(text, letters.map((letter) => letter.repeat(RUN_BYTES)).join(""));
  t.equal(most, 2);
  t.ok(sizes[0]! <= READ_BYTES.first, "a small buffer is enough for most answers");
  t.equal(Math.max(...sizes), READ_BYTES.long, "a long one gets larger ones");
  t.equal(
    await within(bodyOf(connection, false).then((next) => next.slice(0, 3))),
    "aaa",
    "and the next on the same connection",
  );
});

t.test(
  "an engine that hangs up after its last byte has answered whole, however slowly its answer is taken",
  async (t) => {
    const body = "a".repeat(RUN_BYTES) + "b".repeat(RUN_BYTES);
    for (const [frame, answer] of [
      ["of a length", `HTTP/1.1 200 OK\r\nContent-Length: ${body.length}\r\n\r\n${body}`],
      ["in chunks", `${chunked}${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`],
      ["to its end", `HTTP/1.1 200 OK\r\n\r\n${body}`],
    ] as const) {
      const path = await engineOf(t, [answer], { hangUpMs: 0 });
      const connection = connectionTo(t, path);
      await ask(connection);
      await sleep(50);
      let [text, ms] = ["", 0];
      const taken = connection.pass((bytes, done) => {
        text += Buffer.from(bytes).toString("latin1");
        setTimeout(done, (ms += 20));
      });
      t.equal(await within(taken.then(() => text)), body, frame);
    }
  },
);

t.test("a request with a body is the last on its connection, and says so", async (t) => {
  // As an engine answers that takes what it has not read of a body for another request.
  const refusal = "HTTP/1.1 507 Insufficient Storage\r\nContent-Length: 9\r\n\r\nabcdefghi";
  for (const [frame, rawHeaders] of [
    ["of a length", ["Content-Length", "5"]],
    ["in chunks", []],
  ] as const) {
    const heard: string[] = [];
    const path = await engineOf(
      t,
      [refusal, "HTTP/1.1 400 Bad Request\r\nContent-Length: 3\r\n\r\nbad"],
      { heard },
    );
    const closed = Promise.withResolvers<string>();
    const connection = new EngineConnection(
      path,
      READ_BYTES,
      () => t.fail("it was given back"),
      () => closed.resolve("closed"),
    );
    const answered = connection.ask({
      method: "PUT",
      target: "/",
      rawHeaders,
      onContinue: () => {},
      onDrain: () => {},
    });
    connection.write(Buffer.from("12345"));
    connection.end();
    t.equal((await answered).status, 507, frame);
    t.equal(await passed(connection, false), "abcdefghi");
    t.match(heard.join(""), /\r\nConnection: close\r\n/);
    t.equal(await within(closed.promise), "closed");
  }
});

t.test(
  "an engine that answers an upload and hangs up is read to its last word, whatever is still written to it",
  async (t) => {
    const body = "x".repeat(4 * RUN_BYTES);
    const path = await engineOf(
      t,
      [`HTTP/1.1 403 Forbidden\r\nContent-Length: ${body.length}\r\n\r\n`, body],
      { hangUpMs: 0 },
    );
    const connection = connectionTo(t, path);
    const rawHeaders = ["Content-Length", "100000"];
    const answered = connection.ask({
      method: "PUT",
      target: "/",
      rawHeaders,
      onContinue: () => {},
      onDrain: () => {},
    });
    connection.write(Buffer.from("first"));
    t.equal((await answered).status, 403);
    await sleep(100);
    for (let turn = 0; turn < 3; turn++) {
      connection.write(Buffer.from("more"));
      await sleep(5);
    }
    t.equal(await within(passed(connection, false)), body);
  },
);

t.test("the end of a chunked body goes out with its last piece", async (t) => {
  const heard: string[] = [];
  const path = await engineOf(t, [], { heard });
  const connection = connectionTo(t, path);
  connection
    .ask({ method: "PUT", target: "/", rawHeaders: [], onContinue: () => {}, onDrain: () => {} })
    .catch(() => {});
  connection.write(Buffer.from("first"));
  connection.write(Buffer.from("last"));
  while (!heard.join("").includes("first")) await sleep(5);
  t.match(heard.join(""), /\r\n\r\n5\r\nfirst\r\n$/);
  connection.end();
  while (!heard.join("").includes("last")) await sleep(5);
  t.equal(heard.at(-1), "4\r\nlast\r\n0\r\n\r\n");
});

t.test(
  "an answer that is longer than it said fails, and with it nothing but its request",
  async (t) => {
    for (const [what, answer] of [
      ["with its head", `${whole}abcdefghi, and more`],
      ["without a body", "HTTP/1.1 204 No Content\r\n\r\nand more"],
    ] as const) {
      const path = await engineOf(t, [answer]);
      const connection = new EngineConnection(
        path,
        READ_BYTES,
        () => t.fail("it was given back"),
        () => {},
      );
      await t.rejects(bodyOf(connection, false), { name: "EngineUnavailable" }, what);
      // A rejection that nobody waits for would end the process by now.
      await new Promise(setImmediate);
    }
  },
);

t.test(
  "whoever has his whole answer ends nobody else's request over the same connection",
  async (t) => {
    const path = await engineOf(t, ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]);
    const connection = connectionTo(t, path);
    const { turn } = connection;
    t.equal(await bodyOf(connection, true), "ok");
    const next = ask(connection);
    connection.destroy(new Error("its client went away"), turn);
    t.match(await Promise.race([next, sleep(LIMIT_MS, "no answer", { ref: false })]), {
      status: 200,
    });
    t.equal(connection.isBroken, false);
    connection.destroy(new Error("this one's client went away"), connection.turn);
    t.equal(connection.isBroken, true);
  },
);

t.test(
  "a connection that is broken says so to whoever asks over it, and is handed out to nobody",
  async (t) => {
    const path = await engineOf(t, ["HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"]);
    using engine = new Engine(path);
    const first = engine.take(false);
    t.equal(await bodyOf(first, true), "ok");
    // Its socket has not closed yet: that is a later turn of the event loop.
    first.destroy(new Error("broken"));
    const second = engine.take(false);
    t.not(second, first);
    t.equal(await bodyOf(second, true), "ok");
    await t.rejects(Promise.race([ask(first), sleep(LIMIT_MS, "no answer", { ref: false })]), {
      name: "EngineUnavailable",
    });
  },
);
