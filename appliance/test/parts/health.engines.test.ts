import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isStopped } from "../helper/is-stopped.ts";
import t, { type Test } from "tap";
import { AuditdFixture } from "@resontech/auditd/testing/auditd-fixture";
import { ensureEngine } from "@resontech/airgap/engines";
import { firstBytes, closesConnection } from "../../src/parts/health.ts";
import { freePort } from "@resontech/house/free-port";

async function untilTrue(ask: () => Promise<boolean>): Promise<void> {
  for (const from = performance.now(); !(await ask()); await sleep(100))
    if (performance.now() - from > 60_000) throw new Error("it did not answer within a minute");
}

/** Answers true, false while the process is stopped, and true again. */
async function seesStop(t: Test, pid: number, ask: () => Promise<boolean>): Promise<void> {
  await untilTrue(ask);
  process.kill(pid, "SIGSTOP");
  while (!isStopped(pid)) await sleep(5);
  t.equal(await ask(), false, "the kernel accepts for it, and nobody answers");
  process.kill(pid, "SIGCONT");
  await untilTrue(ask);
}

t.test("a NATS that is stopped does not greet", async (t) => {
  const port = await freePort();
  const nats = spawn(await ensureEngine("nats"), ["--addr", "127.0.0.1", "--port", String(port)], {
    stdio: "ignore",
  });
  t.teardown(() => nats.kill("SIGKILL"));
  await seesStop(
    t,
    nats.pid ?? 0,
    async () => (await firstBytes("127.0.0.1", port))?.toString().startsWith("INFO ") === true,
  );
});

t.test("an auditd that is stopped does not hang up", async (t) => {
  // Short: a socket's path may have 107 bytes.
  const auditd = new AuditdFixture(mkdtempSync(join(tmpdir(), "rt-health-")));
  t.teardown(async () => {
    await auditd.stop("SIGKILL");
    rmSync(auditd.root, { recursive: true });
  });
  const path = auditd.socket("coordinator-gate");
  t.equal(await closesConnection(path), false, "nobody listens yet");
  auditd.init();
  await auditd.start();
  await seesStop(t, auditd.pid, () => closesConnection(path));
});

t.test(
  "a question is asked before the answer is waited for; who closes without a word has said nothing",
  async (t) => {
    const server = createServer((socket) => {
      socket.once("data", (question) => socket.end(question[0] === 1 ? "yes" : ""));
    }).listen(0, "127.0.0.1");
    t.teardown(() => server.close());
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    t.equal((await firstBytes("127.0.0.1", port, Buffer.from([1])))?.toString(), "yes");
    t.equal(await firstBytes("127.0.0.1", port, Buffer.from([2])), null);
  },
);
