/** The coordinator's own way of stopping, behind the real front door and under load. */
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import Fastify, { type FastifyInstance } from "fastify";
import t from "tap";
import { RunningDoor } from "@resontech/door/testing/running-door";
import { leaveSocket } from "../../src/http/leave-socket.ts";
import { listenOnSocket } from "../../src/http/listen-on-socket.ts";
import { makeTestCa } from "@resontech/house/test-ca";

// Short: a socket's path may have 107 bytes.
const dir = mkdtempSync(join(tmpdir(), "rtl-"));
t.teardown(() => rmSync(dir, { recursive: true }));
const path = join(dir, "sock");
const ca = await makeTestCa(t.testdir({}));
const door = await RunningDoor.start(join(dir, "door"), ca, { coordinatorSocket: path });
t.teardown(() => door[Symbol.asyncDispose]());
/** Connections are kept, as clients keep them. */
const agent = new Agent({ ca: readFileSync(ca.caFile), keepAlive: true });
t.teardown(() => agent.destroy());

async function start(): Promise<FastifyInstance> {
  const app = Fastify({
    ...{ keepAliveTimeout: 0, forceCloseConnections: "idle", return503OnClosing: false },
  });
  await app.register(leaveSocket);
  app.all("/", async () => {
    await sleep(3);
    return "done";
  });
  await listenOnSocket(app, path);
  return app;
}

async function ask(method: string): Promise<string> {
  const sent = request({ host: "localhost", port: door.port, path: "/", method, agent });
  sent.end();
  const [answer] = (await once(sent, "response")) as [IncomingMessage];
  return `${answer.statusCode} ${/"code":"(\w+)"/.exec(await text(answer))?.[1] ?? ""}`.trim();
}

t.test("under load a stop and a start lose no request", async (t) => {
  const seen = new Map<string, number>();
  let asked = 0;
  const sum = () => asked;
  const answered = async (count: number) => {
    const upTo = sum() + count;
    while (sum() < upTo) await sleep(5);
  };
  const over = new AbortController();
  let app = await start();
  const load = Array.from({ length: 8 }, async (_, index) => {
    while (!over.signal.aborted) {
      const outcome = await ask(index % 2 === 0 ? "GET" : "POST").catch(String);
      asked += 1;
      seen.set(outcome, (seen.get(outcome) ?? 0) + 1);
    }
  });
  for (let restarts = 0; restarts < 5; restarts++) {
    await answered(100);
    await app.close();
    await answered(20);
    app = await start();
  }
  over.abort();
  await Promise.all(load);
  await app.close();
  t.same([...seen.keys()].sort(), ["200", "503 restarting"], JSON.stringify([...seen]));
});
