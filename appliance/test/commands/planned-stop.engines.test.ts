/** Planned stops, with a real supervisor behind its control socket, and a coordinator's that notes what it is told. */
import { mkdirSync, rmSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { pino } from "pino";
import t, { type Test } from "tap";
import { duringPlannedStop, startHeldParts, stopParts } from "../../src/commands/planned-stop.ts";
import { waitHealthy } from "../../src/commands/wait-healthy.ts";
import { Layout } from "@resontech/frame/layout";
import type { PartContext } from "../../src/parts/context.ts";
import { answeringSupervisor } from "../supervisor/answering-supervisor.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { scriptedCoordinator } from "../helper/scripted-coordinator.ts";
import { shellPart } from "../supervisor/shell-part.ts";

function contextOf(t: Test, name: string): PartContext {
  const layout = new Layout(t.testdir(), `${name}-${process.pid}`);
  mkdirSync(layout.run("coordinator"), { recursive: true });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { containerEngine: { kind: "podman" } } as ApplianceConfig;
  return { layout, config, release: { version: "1" } as PartContext["release"], parts: [] };
}

t.test("a stop is ended once the work is done, if it could be announced", async (t) => {
  const context = contextOf(t, "planned");
  const told: string[] = [];
  const work = async (): Promise<void> => void told.push("work");
  await t.resolves(
    duringPlannedStop(context, 900, () => {}, work),
    "a coordinator that is down keeps from nothing",
  );
  t.same(told, ["work"]);

  await scriptedCoordinator(t, context.layout, (route, body) => {
    t.equal(route, "PUT /api/operator/maintenance");
    told.push(`for ${(body as { forS: number }).forS} s`);
    return { until: null, untold: [] };
  });
  await duringPlannedStop(context, 900, () => {}, work);
  t.same(told, ["work", "for 900 s", "work", "for 0 s"]);
});

t.test(
  "a start of everything starts what was stopped by name; without a supervisor there is nothing to start",
  async (t) => {
    const context = contextOf(t, "held");
    const { layout } = context;
    const dir = layout.root;
    t.equal(await startHeldParts(context), false);

    const parts = ["first", "second", "third"].map((name) => shellPart(dir, name, "exec sleep 60"));
    const supervisor = new Supervisor(parts, dir, pino({ level: "silent" }));
    await answeringSupervisor(t, layout.supervisorSocket, {
      status: () => supervisor.status(),
      hold: (named) => supervisor.hold(named),
      release: (named) => supervisor.release(named),
    });
    const ended = supervisor.run();
    t.teardown(async () => {
      supervisor.stop();
      await ended;
    });
    await waitHealthy(context, 10_000, () => {});
    await stopParts(context, ["first", "third"], 5_000);
    t.equal(await startHeldParts(context), true);
    await t.resolves(waitHealthy(context, 10_000, () => {}));
    t.ok(supervisor.status().every(({ isHeld }) => !isHeld));
  },
);
