import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import t from "tap";
import { endMonitors } from "../src/end-monitors.ts";

/** As Podman starts one: its own name, and the bundle after `-b`. */
async function monitor(name: string, bundle: string): Promise<ChildProcess> {
  const words = ["-e", "process.stdout.write('.'); setInterval(() => {}, 1e3)", "--", "-b", bundle];
  const child = spawn(process.execPath, words, {
    argv0: name,
    stdio: ["ignore", "pipe", "ignore"],
  });
  await once(child.stdout, "data");
  return child;
}

t.test("monitors of one install end, those of others and other programs go on", async (t) => {
  const folder = t.testdir();
  const own = await monitor("/usr/bin/conmon", join(folder, "graph", "x"));
  const others = [
    await monitor("/usr/bin/conmon", `${folder}-other/graph/x`),
    await monitor("/usr/bin/other", join(folder, "graph", "x")),
  ];
  t.teardown(() => {
    for (const child of [own, ...others]) child.kill("SIGKILL");
  });
  const ended = once(own, "exit");
  endMonitors(folder);
  t.same(await ended, [null, "SIGKILL"]);
  await sleep(50);
  t.same(
    others.map(({ exitCode, signalCode }) => exitCode ?? signalCode),
    [null, null],
  );
});
