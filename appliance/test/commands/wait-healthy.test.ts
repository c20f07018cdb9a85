/** The wait for health, against a real control socket whose supervisor says what the test wants. */
import { mkdirSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import t, { type Test } from "tap";
import { waitHealthy } from "../../src/commands/wait-healthy.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { answeringSupervisor } from "../supervisor/answering-supervisor.ts";
import type { PartStatus } from "../../src/supervisor/supervisor.ts";

/** Parts as each question finds them; the last one for ever. */
async function supervised(
  t: Test,
  name: string,
  engine: "podman" | "docker",
  states: Partial<PartStatus>[],
): Promise<PartContext> {
  const layout = new Layout(t.testdir(), `wait-${name}-${process.pid}`);
  mkdirSync(layout.run(), { recursive: true });
  let asked = 0;
  await answeringSupervisor(t, layout.supervisorSocket, {
    status: () => {
      const part = states[Math.min(asked, states.length - 1)];
      asked += 1;
      const postgres = { name: "postgres", sinceMs: 0, pid: null, port: null, isHeld: false };
      return [{ ...postgres, version: "1", lastExit: "exit 1", ...part } as PartStatus];
    },
  });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { containerEngine: { kind: engine } } as ApplianceConfig;
  return { layout, config, release: { version: "1" } as PartContext["release"], parts: [] };
}

t.test("what crashed long ago, however often, may become healthy", async (t) => {
  const context = await supervised(t, "old", "podman", [
    { phase: "starting", restarts: 40 },
    { phase: "healthy", restarts: 41 },
  ]);
  await t.resolves(waitHealthy(context, 10_000, () => undefined));
});

t.test(
  "who waits asks the supervisor alone: the coordinator's answer would cost a record at the S3 door each time",
  async (t) => {
    const context = await supervised(t, "alone", "podman", [
      { phase: "starting", restarts: 0 },
      { phase: "healthy", restarts: 0 },
    ]);
    let asked = 0;
    mkdirSync(context.layout.run("coordinator"));
    const coordinator = createServer((socket) => {
      asked += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) =>
      coordinator.listen(context.layout.run("coordinator", "control"), resolve),
    );
    t.teardown(() => coordinator.close());
    await waitHealthy(context, 10_000, () => undefined);
    t.equal(asked, 0);
  },
);

t.test("what keeps ending while one waits is given up, with where to look", async (t) => {
  const states = Array.from(
    { length: 7 },
    (_, restarts) => ({ phase: "exited", restarts }) as const,
  );
  const docker = await supervised(t, "crash", "docker", states);
  await t.rejects(
    waitHealthy(docker, 10_000, () => undefined),
    {
      code: "not_healthy",
      message: `postgres keeps ending (exit 1); look at docker logs rt-${docker.layout.instance}-postgres`,
    },
  );
});

t.test("what is not healthy in time is named with its log", async (t) => {
  const context = await supervised(t, "slow", "podman", [{ phase: "starting", restarts: 0 }]);
  await t.rejects(
    waitHealthy(context, 300, () => undefined),
    {
      code: "not_healthy",
      message: new RegExp(
        `postgres starting \\(log: ${join(context.layout.root, "log", "postgres.log")}`,
      ),
    },
  );
});
