/** The local agent's join token, of a control socket that gives a new one each time. */
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import t, { type Test } from "tap";
import { ensureJoinToken } from "../../src/first-boot/first-boot.ts";
import { Layout } from "../../src/layout.ts";
import type { PartContext } from "../../src/parts/context.ts";

async function contextOf(t: Test): Promise<PartContext & { asked: string[] }> {
  const layout = new Layout(t.testdir({ data: { agent: {} } }), `token-${process.pid}`);
  mkdirSync(layout.run("coordinator"), { recursive: true });
  const asked: string[] = [];
  const server = createServer((socket) =>
    socket.once("data", (line) => {
      asked.push(line.toString());
      socket.end(
        `${JSON.stringify({ ok: true, verb: "join-token", token: `token-${asked.length}`, expiresAt: "" })}\n`,
      );
    }),
  );
  await new Promise<void>((resolve) =>
    server.listen(layout.run("coordinator", "control"), resolve),
  );
  t.teardown(() => {
    server.close();
    rmSync(layout.run(), { recursive: true, force: true });
  });
  const config = { agent: { node: "n1" } } as ApplianceConfig;
  return { layout, config, release: { version: "1" } as PartContext["release"], asked };
}

t.test(
  "until the agent has joined, each start gives it a new token: the one before may be used up or too old",
  async (t) => {
    const context = await contextOf(t);
    const file = context.layout.data("agent", "join-token");
    for (const token of ["token-1", "token-2"]) {
      await ensureJoinToken(context);
      t.equal(readFileSync(file, "utf8"), token);
      t.equal(statSync(file).mode & 0o777, 0o400);
    }
    writeFileSync(context.layout.data("agent", "node.crt"), "certificate");
    await ensureJoinToken(context);
    t.equal(context.asked.length, 2, "one that has joined needs none");
  },
);
