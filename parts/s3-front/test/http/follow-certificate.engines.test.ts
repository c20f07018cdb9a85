/** A certificate that is renewed in its place, on a real TLS listener. */
import { copyFileSync, renameSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { connect, type TLSSocket } from "node:tls";
import { pino } from "pino";
import t from "tap";
import { TestPki } from "@resontech/house/test-pki";
import { followCertificate } from "../../src/http/follow-certificate.ts";

t.test(
  "whoever connects sees the renewed one, who is connected goes on, and half a pair changes nothing",
  async (t) => {
    const dir = t.testdir();
    const [first, second] = [
      await TestPki.make(join(dir, "first"), "127.0.0.1"),
      await TestPki.make(join(dir, "second"), "127.0.0.1", "Other root"),
    ];
    const files = { certFile: join(dir, "server.crt"), keyFile: join(dir, "server.key") };
    const put = (from: string, to: string): void => {
      copyFileSync(from, `${to}.part`);
      renameSync(`${to}.part`, to);
    };
    put(first.serverKeyFile, files.keyFile);
    put(first.serverCertFile, files.certFile);
    const server = createServer(
      { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) },
      (_request, response) => response.end("here"),
    ).listen(0, "127.0.0.1");
    await once(server, "listening");
    t.teardown(() => server.close());
    using _following = followCertificate(server, files, pino({ level: "silent" }), 20);
    const { port } = server.address() as AddressInfo;
    const dial = async (ca: string): Promise<TLSSocket | null> => {
      const socket = connect({ host: "127.0.0.1", port, ca });
      t.teardown(() => socket.destroy());
      return await once(socket, "secureConnect").then(
        () => socket,
        () => null,
      );
    };
    const old = await dial(first.rootPem);
    t.ok(old);
    put(second.serverCertFile, files.certFile);
    await sleep(200);
    t.ok(await dial(first.rootPem), "the key of it is not there yet");
    put(second.serverKeyFile, files.keyFile);
    // Its time alone tells of it.
    writeFileSync(files.certFile, readFileSync(second.serverCertFile));
    for (const end = Date.now() + 120_000; (await dial(second.rootPem)) === null; await sleep(50))
      if (Date.now() > end) break;
    t.ok(await dial(second.rootPem));
    t.equal(await dial(first.rootPem), null);
    old!.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    t.match(String((await once(old!, "data"))[0]), /200 OK/);
  },
);
