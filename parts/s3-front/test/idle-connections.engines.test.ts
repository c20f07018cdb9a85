import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { once } from "node:events";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect as connectTls } from "node:tls";
import { pino } from "pino";
import t from "tap";
import { makeTestCa } from "@resontech/house/test-ca";
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

t.test("a socket that never says hello is closed, whatever it says instead", async (t) => {
  const port = await listening(100);
  for (const bytes of ["", "\u0016\u0003\u0001"]) {
    const socket = connect(port, "127.0.0.1");
    socket.on("error", () => {}).resume();
    socket.write(bytes);
    await once(socket, "close");
    t.pass(JSON.stringify(bytes));
  }
});

t.test(
  "a connection on which nothing is asked is closed without a word, before and after a request",
  async (t) => {
    const port = await listening(60_000);
    for (const sent of ["", "GET / HTTP/1.1\r\nhost: a\r\n\r\n", "GET / HT"]) {
      const socket = connectTls({
        port,
        host: "127.0.0.1",
        servername: "localhost",
        ca: readFileSync(ca.caFile),
      });
      let received = "";
      socket.on("error", () => {}).on("data", (chunk: Buffer) => (received += chunk.toString()));
      await once(socket, "secureConnect");
      socket.write(sent);
      if (sent.endsWith("\r\n\r\n")) {
        await once(socket, "data");
        t.match(received, /^HTTP\/1\.1 200/);
        received = "";
        socket.write("GET / H");
      }
      await once(socket, "close");
      t.equal(received, "", `after ${JSON.stringify(sent)}`);
    }
  },
);
