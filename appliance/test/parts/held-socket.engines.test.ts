/** The real gateway's way to listen, and a part that is killed while somebody calls. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import type { IncomingMessage } from "node:http";
import t from "tap";
import { HeldSocket } from "../../src/parts/held-socket.ts";
import { startProcess } from "../../src/parts/process-runner.ts";

const dir = mkdtempSync(join(tmpdir(), "rth-"));
t.teardown(() => rmSync(dir, { recursive: true, force: true }));
const path = join(dir, "sock");
const listener = join(
  import.meta.dirname,
  "..",
  "..",
  "..",
  "parts",
  "inference-gateway",
  "src",
  "listen.ts",
);
const PROGRAM = `
const { createServer } = await import("node:http");
const { listen } = await import(${JSON.stringify(listener)});
const server = createServer((_request, response) => setTimeout(() => response.end(String(process.pid)), 20));
const listening = await listen(server, { path: "/none", fd: 3 });
process.once("SIGTERM", () => void listening[Symbol.asyncDispose]());
`;
const held = new HeldSocket(path, { uid: 0, gid: 64_199 });
t.teardown(() => held.close());
const start = () =>
  startProcess({
    ...{ program: process.execPath, args: ["--input-type=module", "-e", PROGRAM] },
    ...{ env: { PATH: "/usr/bin:/bin" }, uid: 0, gid: 0, cwd: dir, fds: [held.fd()] },
    ...{ logFile: join(dir, "log"), pidFile: join(dir, "pid"), oomScore: 0 },
  });

async function call(): Promise<number> {
  const asked = request({ socketPath: path, agent: false });
  asked.end();
  const [from] = (await once(asked, "response")) as [IncomingMessage];
  return Number(await text(from));
}
async function firstCall(): Promise<number> {
  for (let tries = 0; ; tries++)
    try {
      return await call();
    } catch (error) {
      if (tries === 200) throw error;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
}

t.test("whoever calls a part that was killed waits for the next one", async (t) => {
  const first = await start();
  t.teardown(() => first.kill());
  t.equal(await firstCall(), first.pid);
  t.equal(statSync(path).mode & 0o777, 0o660);
  t.equal(statSync(path).gid, 64_199);
  first.kill();
  await first.exited;
  const waiting = Array.from({ length: 20 }, call);
  const next = await start();
  t.teardown(() => next.kill());
  t.same(new Set(await Promise.all(waiting)), new Set([next.pid]));
});

t.test(
  "a part that stops in good order answers whoever has connected, and no call fails",
  async (t) => {
    let running = await start();
    t.teardown(() => running.kill());
    await call();
    const over = { is: false };
    const pids = new Set<number>();
    const callers = Array.from({ length: 8 }, async () => {
      while (!over.is) pids.add(await call());
    });
    for (let turn = 0; turn < 3; turn++) {
      running.stop();
      t.equal(await running.exited, "exit 0");
      running = await start();
      await call();
    }
    over.is = true;
    await Promise.all(callers);
    t.ok(pids.size >= 3, `${pids.size} processes answered`);
  },
);

t.test("a path that somebody took away is there again at the next start", async (t) => {
  rmSync(path);
  const next = await start();
  t.teardown(() => next.kill());
  t.equal(await firstCall(), next.pid);
});

t.test("what the next holder has made stays when the one before ends at last", async (t) => {
  const own = join(dir, "own");
  const held = join(import.meta.dirname, "..", "..", "src", "parts", "held-socket.ts");
  const before = spawn(process.execPath, [
    ...["--input-type=module", "--eval"],
    `const { HeldSocket } = await import(${JSON.stringify(held)});
     const held = new HeldSocket(${JSON.stringify(own)}, { uid: 0, gid: 0 });
     held.fd();
     held.close();
     process.stdout.write("given up");
     await new Promise((resolve) => process.stdin.once("end", resolve).resume());`,
  ]);
  t.teardown(() => before.kill());
  await once(before.stdout, "data");
  const next = new HeldSocket(own, { uid: 0, gid: 0 });
  t.teardown(() => next.close());
  next.fd();
  before.stdin.end();
  await once(before, "exit");
  t.ok(existsSync(own));
});

t.test("nothing of it is left", (t) => {
  held.close();
  t.notOk(existsSync(path));
  t.end();
});
