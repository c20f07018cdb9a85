import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls, type TLSSocket } from "node:tls";
import { pino } from "pino";
import t from "tap";
import { makeTestCa } from "@resontech/house/test-ca";
import { untilClosed } from "@resontech/house/until-closed";
import type { Door } from "../src/http/door.ts";
import { listen } from "../src/http/listen.ts";

const dir = mkdtempSync(join(tmpdir(), "rti-"));
const ca = await makeTestCa(dir);
const tls = { cert: readFileSync(ca.certFile, "utf8"), key: readFileSync(ca.keyFile, "utf8") };
const door = {
  serve: async (_request: unknown, response: { end: (text: string) => void }) =>
    response.end("answer"),
};
/** @param handshakeMs no shorter than a busy machine needs, where a hello is said @returns its port */
async function listening(handshakeMs: number): Promise<number> {
  const server = await listen(
    door as unknown as Door,
    { host: "127.0.0.1", port: 0, tls },
    pino({ level: "silent" }),
    { handshakeMs, headMs: 300, checkMs: 50 },
  );
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  return (server.address() as { port: number }).port;
}
t.teardown(() => rmSync(dir, { recursive: true }));

/** Keeps what comes, whatever becomes of the connection. */
async function connected(port: number): Promise<{ socket: TLSSocket; received: () => string }> {
  const socket = connectTls({
    port,
    host: "127.0.0.1",
    servername: "localhost",
    ca: readFileSync(ca.caFile),
  });
  let text = "";
  socket.on("error", () => {}).on("data", (chunk: Buffer) => (text += chunk.toString()));
  await once(socket, "secureConnect");
  return { socket, received: () => text };
}

/** A connection whose first request was answered. A busy machine may send it later than a head may come: then another one is tried. */
async function answered(port: number): Promise<{ socket: TLSSocket; received: () => string }> {
  for (;;) {
    const connection = await connected(port);
    const { socket } = connection;
    const first = Promise.withResolvers<boolean>();
    socket.once("data", () => first.resolve(true)).once("close", () => first.resolve(false));
    socket.write("GET / HTTP/1.1\r\nhost: a\r\n\r\n");
    if (await first.promise) return connection;
  }
}

t.test("a socket that never says hello is closed, whatever it says instead", async (t) => {
  const port = await listening(100);
  for (const bytes of ["", "\u0016\u0003\u0001"]) {
    const socket = connect(port, "127.0.0.1").resume();
    socket.write(bytes);
    await untilClosed(socket);
    t.pass(JSON.stringify(bytes));
  }
});

t.test(
  "a connection on which nothing is asked is closed without a word, before and after a request",
  async (t) => {
    const port = await listening(60_000);
    for (const sent of ["", "GET / HT"]) {
      const { socket, received } = await connected(port);
      socket.write(sent);
      await untilClosed(socket);
      t.equal(received(), "", `after ${JSON.stringify(sent)}`);
    }
    const { socket, received } = await answered(port);
    socket.write("GET / H");
    await untilClosed(socket);
    t.match(received(), /^HTTP\/1\.1 200 [^]*\r\nanswer$/, "nothing follows the answer");
  },
);
