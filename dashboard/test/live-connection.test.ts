import type { FeedMessage } from "@resontech/contracts/live-feed";
import type { LiveAnswer, LiveRequest } from "@resontech/contracts/live-socket";
import t from "tap";
import { LiveConnection } from "../src/live/live-connection.ts";

/** A socket whose other end is the test. The protocol itself is held to the real one: parts/coordinator/test/http/live.engines.test.ts. */
class OpenSocket extends EventTarget {
  readyState = 1;
  readonly said: LiveRequest[] = [];

  send(text: string): void {
    this.said.push(JSON.parse(text) as LiveRequest);
  }

  close(): void {
    this.end(1000);
  }

  opened(): void {
    this.dispatchEvent(new Event("open"));
  }

  tell(answer: LiveAnswer): void {
    this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(answer) }));
  }

  end(code: number): void {
    this.readyState = 3;
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
}

function connect() {
  const sockets: OpenSocket[] = [];
  let signedOut = 0;
  const connection = new LiveConnection({
    open: () => {
      const socket = new OpenSocket();
      sockets.push(socket);
      return socket as unknown as WebSocket;
    },
    csrf: () => "token",
    onSignedOut: () => (signedOut += 1),
    now: () => 5,
    random: () => 0,
  });
  return { connection, sockets, signedOut: () => signedOut };
}

const change = (sequence: number): FeedMessage => ({
  ...{ kind: "change", sequence, at: "2026-01-01T00:00:00.000Z" },
  change: { kind: "waiting", job: "job-1", why: "x" },
});

t.test("what was subscribed before the connection stood is asked for once it does", async (t) => {
  const { connection, sockets } = connect();
  const told: FeedMessage[] = [];
  connection.subscribe({ kind: "jobs" }, { told: (message) => told.push(message) });
  const [socket] = sockets as [OpenSocket];
  socket.opened();
  t.same(socket.said, [{ op: "hello", csrf: "token" }]);
  socket.tell({ op: "ready", epoch: "e1" });
  t.same(socket.said.at(-1), { op: "subscribe", id: 1, topic: { kind: "jobs" } });
  t.same(connection.state(), { kind: "live" });
  socket.tell({
    ...{ op: "told", id: 1 },
    message: { kind: "reset", epoch: "e1", sequence: 7, missed: null },
  });
  t.equal(told.length, 1);
});

t.test("a broken connection comes back and goes on behind the last message", async (t) => {
  const { connection, sockets } = connect();
  const told: FeedMessage[] = [];
  connection.subscribe({ kind: "jobs" }, { told: (message) => told.push(message) });
  sockets[0]!.opened();
  sockets[0]!.tell({ op: "ready", epoch: "e1" });
  sockets[0]!.tell({ op: "told", id: 1, message: change(8) });
  sockets[0]!.end(1006);
  t.same(connection.state(), { kind: "away", since: 5 });
  for (let tries = 0; tries < 5_000 && sockets.length < 2; tries++)
    await new Promise((resolve) => setTimeout(resolve, 10));
  t.equal(sockets.length, 2);
  sockets[1]!.opened();
  sockets[1]!.tell({ op: "ready", epoch: "e2" });
  t.same(sockets[1]!.said.at(-1), {
    ...{ op: "subscribe", id: 1, topic: { kind: "jobs" } },
    since: { epoch: "e1", sequence: 8 },
  });
});

t.test("whoever was signed out does not come back", async (t) => {
  const { connection, sockets, signedOut } = connect();
  connection.subscribe({ kind: "jobs" }, { told: () => {} });
  sockets[0]!.opened();
  sockets[0]!.tell({ op: "ready", epoch: "e1" });
  sockets[0]!.end(4401);
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(sockets.length, 1);
  t.equal(signedOut(), 1);
});

t.test("a hidden page has no connection, and one that is shown again has", async (t) => {
  const { connection, sockets } = connect();
  connection.subscribe({ kind: "jobs" }, { told: () => {} });
  sockets[0]!.opened();
  sockets[0]!.tell({ op: "ready", epoch: "e1" });
  connection.pause();
  await new Promise((resolve) => setTimeout(resolve, 300));
  t.equal(sockets.length, 1);
  connection.resume();
  t.equal(sockets.length, 2);
});

t.test("a refused topic is told once, and left", async (t) => {
  const { connection, sockets } = connect();
  const refused: string[] = [];
  connection.subscribe(
    { kind: "nodes" },
    { told: () => t.fail("told"), refused: ({ code }) => refused.push(code) },
  );
  sockets[0]!.opened();
  sockets[0]!.tell({ op: "ready", epoch: "e1" });
  sockets[0]!.tell({ op: "refused", id: 1, code: "role_required", message: "", hint: "" });
  sockets[0]!.tell({ op: "told", id: 1, message: change(9) });
  t.same(refused, ["role_required"]);
});
