import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { askSupervisor, listenControl } from "../../src/supervisor/control.ts";

/** Asks and then waits for ever. */
const CLIENT = `require("node:net").connect(process.argv[1]).write('{"verb":"status"}\\n'); setInterval(() => {}, 1000);`;

t.test("a client that ends before its answer costs the supervisor nothing", async (t) => {
  // Short: a socket's path may have 107 bytes.
  const dir = mkdtempSync(join(tmpdir(), "rt-control-"));
  t.teardown(() => rmSync(dir, { recursive: true }));
  const path = join(dir, "sock");
  const gone = { client: () => {} };
  const server = await listenControl(path, () => {
    gone.client();
    return { parts: [] };
  });
  t.teardown(() => server.close());
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
    t.same(await askSupervisor(path, { verb: "status" }), { parts: [] });
});
