/** `appliance config apply` killed anywhere between its files and the restart: the same command again restarts whoever runs with the older. */
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Layout } from "@resontech/frame/layout";
import t from "tap";
import { config as installed } from "@resontech/installer/testing/request";
import { writePartConfig } from "../../src/first-boot/prepare-part.ts";
import { declaredPart } from "../../src/parts/declared-part.ts";
import type { Running } from "../../src/parts/part.ts";
import { applySettings } from "../../src/settings/apply-settings.ts";
import { planApply } from "../../src/settings/plan-apply.ts";
import { toy, toyContext, WANTED } from "./toy-part.ts";

const root = mkdtempSync(join(tmpdir(), "rts-"));
t.teardown(() => rmSync(root, { recursive: true, force: true }));
chmodSync(root, 0o755);
const layout = new Layout(root, `set-${process.pid}`);
t.teardown(() => rmSync(layout.run(), { recursive: true, force: true }));
for (const folder of [layout.release("bin"), layout.release("app"), layout.etc, layout.log("")])
  mkdirSync(folder, { recursive: true });
cpSync(process.execPath, layout.release("bin", "node"));
writeFileSync(layout.release("app", "toy.mjs"), "setInterval(() => {}, 1e9);");

async function started(): Promise<Running> {
  const part = declaredPart(toyContext(layout), toy);
  await part.prepare?.();
  return await part.start();
}

async function stopped(running: Running): Promise<void> {
  running.kill();
  await running.exited;
}

/** As an install leaves it, with the toy running. */
async function installedToy(): Promise<Running> {
  rmSync(layout.setting("toys.json"), { force: true });
  writeFileSync(layout.configFile, JSON.stringify({ ...installed, instance: layout.instance }));
  writePartConfig(toyContext(layout), toy);
  return await started();
}

const plan = () => planApply(toyContext(layout), WANTED);
const cutApply = (at: string) =>
  spawnSync(
    process.execPath,
    [
      "--disable-warning=ExperimentalWarning",
      ...[join(import.meta.dirname, "cut-apply.ts"), root, layout.instance, at],
    ],
    { encoding: "utf8" },
  );

t.test("what runs as it is set is not told of", async (t) => {
  const running = await installedToy();
  t.match(plan(), { outdated: [], restarts: ["toy"] });
  t.match(planApply(toyContext(layout), { formatVersion: 1 }), {
    changes: [],
    outdated: [],
    restarts: [],
  });
  await stopped(running);
});

for (const [at, signal, changes] of [
  ["choices", "SIGKILL", 1],
  ["derived", "SIGKILL", 0],
  ["nowhere", null, 0],
] as const)
  t.test(`killed at ${at}, the same file again finds whom to restart`, async (t) => {
    let running = await installedToy();
    const cut = cutApply(at);
    t.equal(cut.signal, signal, cut.stderr);
    const again = plan();
    t.equal(again.changes.length, changes);
    t.same([again.outdated, again.restarts], [["toy"], ["toy"]]);
    applySettings(toyContext(layout), WANTED, again.restarts);
    t.same(plan().outdated, ["toy"], "it still runs with the older");
    await stopped(running);
    t.same(plan().outdated, [], "what does not run has nothing older");
    running = await started();
    t.same(plan(), { changes: [], outdated: [], restarts: [] });
    t.same(JSON.parse(readFileSync(layout.processConfig("toy"), "utf8")), {
      outputExport: "controlled",
      toys: { count: 3 },
    });
    await stopped(running);
  });

t.test(
  "a part that a killed apply left with half of it, and that ends by itself, is told of all the same",
  async (t) => {
    const running = await installedToy();
    cutApply("derived");
    await stopped(running);
    const next = await started();
    t.same(plan(), { changes: [], outdated: ["toy"], restarts: ["toy"] });
    await stopped(next);
  },
);
