/** What `appliance status` says, of a real control socket whose supervisor says what the test wants. */
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { PARTS } from "@resontech/parts";
import t, { type Test } from "tap";
import { readStatus, renderStatus } from "../../src/status/status.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { answeringSupervisor } from "../supervisor/answering-supervisor.ts";
import type { PartStatus } from "../../src/supervisor/supervisor.ts";

const COORDINATOR: PartStatus = {
  ...{
    name: "coordinator",
    phase: "healthy",
    sinceMs: 0,
    restarts: 0,
    pid: 1,
    port: 8000,
    version: "1",
  },
  ...{ lastExit: null, isHeld: false },
};

function contextOf(t: Test, name: string): PartContext {
  const layout = new Layout(t.testdir(), `status-${name}-${process.pid}`);
  mkdirSync(layout.run("coordinator"), { recursive: true });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { containerEngine: { kind: "podman" } } as ApplianceConfig;
  return { layout, config, release: { version: "1" } as PartContext["release"], parts: PARTS };
}

async function supervised(t: Test, { layout }: PartContext): Promise<void> {
  await answeringSupervisor(t, layout.supervisorSocket, { status: () => [COORDINATOR] });
}

/** A coordinator that takes the question and never answers. */
async function hangingCoordinator(t: Test, { layout }: PartContext): Promise<Server> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => void sockets.push(socket));
  await new Promise<void>((resolve) =>
    server.listen(layout.run("coordinator", "control"), resolve),
  );
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return server;
}

t.test("a coordinator that is healthy and does not say how it is, is a fault", async (t) => {
  const context = contextOf(t, "hangs");
  await supervised(t, context);
  await hangingCoordinator(t, context);
  const status = await readStatus(context);
  t.match(status, {
    healthy: true,
    fleet: null,
    findings: [{ severity: "fault", code: "coordinator_silent" }],
  });
  t.notMatch(renderStatus(status), /nothing is wrong/);
});

t.test("what is wrong is printed of an appliance that does not run as well", async (t) => {
  const context = contextOf(t, "down");
  const status = await readStatus(context);
  t.notMatch(renderStatus(status), /nothing is wrong/);
  const finding = {
    severity: "fault",
    code: "disk_full",
    what: "no space is left",
    todo: "make space",
  } as const;
  t.match(
    renderStatus({ ...status, findings: [finding] }),
    /not running[^]*FAULT +no space is left\n +→ make space\n$/,
  );
});
