/** The supervisor's view of a real agent, which waits for a coordinator that is not there. */
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { AgentConfig } from "@resontech/contracts/agent-config";
import t from "tap";
import { Layout } from "@resontech/frame/layout";
import type { ReleaseContext } from "../../src/parts/context.ts";
import { agent as declared } from "@resontech/agent/part";
import { hostPart } from "../../src/parts/host-part.ts";
import { jobHost } from "../helper/job-host.ts";
import { isStopped } from "../helper/is-stopped.ts";
import { shippedProgram } from "@resontech/house/shipped-program";

const MAIN = shippedProgram("agent");

async function until(condition: () => Promise<boolean>, what: string): Promise<void> {
  for (const from = performance.now(); !(await condition()); await sleep(100))
    if (performance.now() - from > 60_000) throw new Error(`not within a minute: ${what}`);
}

t.test("an agent is healthy once it has joined, for as long as it turns", async (t) => {
  const root = mkdtempSync(join(tmpdir(), "rt-agent-"));
  const layout = new Layout(root, `agent-${process.pid}`);
  t.teardown(() => {
    for (const folder of [root, layout.run()]) rmSync(folder, { recursive: true, force: true });
  });
  const part = hostPart(
    {
      layout,
      config: {},
      release: { version: "1", tree: [] as object[] } as ReleaseContext["release"],
    },
    jobHost(),
    declared,
  );
  await part.prepare?.();
  mkdirSync(layout.data("agent"), { recursive: true });
  writeFileSync(join(root, "token"), "one-use");
  const settings: AgentConfig = {
    ...{
      node: "n1",
      apiUrl: "https://127.0.0.1:1",
      rootCertFile: join(root, "token"),
      address: "127.0.0.1",
    },
    ...{
      jobPorts: { from: 29_000, to: 29_001 },
      dataDir: layout.data("agent"),
      joinTokenFile: join(root, "token"),
    },
    ...{
      containerEngine: { kind: "docker", socket: join(root, "engine") },
      initBinary: "/init",
      runnersDir: "/runners",
    },
    ...{
      cpuWorkers: null,
      instance: "test",
      logLevel: "info",
      livenessSocket: layout.run("agent", "sock"),
    },
  };
  const configFile = join(root, "agent.json");
  writeFileSync(configFile, JSON.stringify(settings));
  const agent = spawn(process.execPath, [MAIN, "--config", configFile], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  t.teardown(() => agent.kill("SIGKILL"));
  let output = "";
  agent.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  await until(async () => output.includes("the join waits"), "it asks to join");
  t.equal(await part.isHealthy(), false, "it has not joined");
  writeFileSync(layout.data("agent", "node.crt"), "certificate");
  await until(part.isHealthy, "it has joined and turns");
  agent.kill("SIGSTOP");
  while (!isStopped(agent.pid ?? 0)) await sleep(5);
  t.equal(await part.isHealthy(), false, "its certificate is there, and it does not turn");
  agent.kill("SIGCONT");
  await until(part.isHealthy, "it turns again");
});
