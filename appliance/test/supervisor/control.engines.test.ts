import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import t, { type Test } from "tap";
import {
  askSupervisor,
  keepNamed,
  listParts,
  startNamed,
  stopAll,
  stopNamed,
} from "../../src/supervisor/control.ts";
import { answeringSupervisor } from "./answering-supervisor.ts";

/** Asks and then waits for ever. */
const CLIENT = `require("node:http").request({ socketPath: process.argv[1], method: "POST", path: "/list-parts" }).on("error", () => {}).end("{}"); setInterval(() => {}, 1000);`;

function socketIn(t: Test): string {
  // Short: a socket's path may have 107 bytes.
  const dir = mkdtempSync(join(tmpdir(), "rt-control-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  return join(dir, "control", "sock");
}

t.test("a client that ends before its answer costs the supervisor nothing", async (t) => {
  const path = socketIn(t);
  const gone = { client: () => {} };
  await answeringSupervisor(t, path, {
    status: () => {
      gone.client();
      return [];
    },
  });
  const client = spawn(process.execPath, ["-e", CLIENT, path], { stdio: "ignore" });
  const ended = once(client, "exit");
  gone.client = () => {
    client.kill("SIGKILL");
    // Without a turn of ours in which its end could be heard.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    gone.client = () => {};
  };
  await ended;
  for (let times = 0; times < 3; times += 1)
    t.same(await askSupervisor(path, listParts, {}), { parts: [] });
});

t.test("each operation does its own, by the names that it is given", async (t) => {
  const path = socketIn(t);
  const done: unknown[] = [];
  const note =
    (what: string) =>
    (names?: readonly string[]): void =>
      void done.push([what, names]);
  await answeringSupervisor(t, path, {
    ...{ stop: note("stop"), hold: note("hold") },
    ...{ release: note("release"), keep: note("keep") },
  });
  await askSupervisor(path, stopNamed, { parts: ["nats"] });
  await askSupervisor(path, startNamed, { parts: ["nats", "s3"] });
  await askSupervisor(path, keepNamed, { parts: ["door"] });
  await askSupervisor(path, stopAll, {});
  t.same(done, [
    ["hold", ["nats"]],
    ["release", ["nats", "s3"]],
    ["keep", ["door"]],
    ["stop", undefined],
  ]);
});

t.test("root alone asks, and where nobody answers none runs", async (t) => {
  const path = socketIn(t);
  t.equal(await askSupervisor(path, listParts, {}), null);
  await answeringSupervisor(t, path, {});
  t.equal(statSync(dirname(path)).mode & 0o777, 0o700);
});
