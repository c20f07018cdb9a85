/** Parts that were stopped by name, with a real supervisor behind its control socket. */
import { mkdirSync, rmSync } from "node:fs";
import type { ApplianceConfig } from "@resontech/contracts/appliance-config";
import { pino } from "pino";
import t from "tap";
import { startHeldParts, stopParts } from "../../src/commands/planned-stop.ts";
import { waitHealthy } from "../../src/commands/wait-healthy.ts";
import { Layout } from "../../src/layout.ts";
import type { PartContext } from "../../src/parts/context.ts";
import { listenControl } from "../../src/supervisor/control.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { shellPart } from "../supervisor/shell-part.ts";

t.test("a start of everything starts what was stopped by name; without a supervisor there is nothing to start", async (t) => {
  const dir = t.testdir();
  const layout = new Layout(dir, `held-${process.pid}`);
  mkdirSync(layout.run(), { recursive: true });
  t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
  const config = { containerEngine: { kind: "podman" } } as ApplianceConfig;
  const context: PartContext = { layout, config, release: { version: "1" } as PartContext["release"] };
  t.equal(await startHeldParts(context), false);

  const parts = ["first", "second", "third"].map((name) => shellPart(dir, name, "exec sleep 60"));
  const supervisor = new Supervisor(parts, dir, pino({ level: "silent" }));
  const control = await listenControl(layout.run("supervisor.sock"), (request) => {
    if (request.verb === "stop") supervisor.hold(request.parts ?? []);
    if (request.verb === "start") supervisor.release(request.parts);
    return { parts: supervisor.status() };
  });
  const ended = supervisor.run();
  t.teardown(async () => {
    supervisor.stop();
    await ended;
    control.close();
  });
  await waitHealthy(context, 10_000, () => {});
  await stopParts(context, ["first", "third"], 5_000);
  t.equal(await startHeldParts(context), true);
  await t.resolves(waitHealthy(context, 10_000, () => {}));
  t.ok(supervisor.status().every(({ isHeld }) => !isHeld));
});
