import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import t from "tap";
import type { Part } from "../../src/parts/part.ts";
import { endPredecessor, startProcess } from "../../src/parts/process-runner.ts";
import { rotateLogs } from "../../src/supervisor/rotate-logs.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";

const log = pino({ level: "silent" });

function shellPart(dir: string, name: string, script: string, after: string[] = []): Part {
  const pidFile = join(dir, `${name}.pid`);
  return {
    name,
    after,
    prepare: () => endPredecessor(pidFile, 2_000),
    start: () =>
      startProcess({
        program: "/bin/sh",
        args: ["-c", script],
        env: { PATH: "/usr/bin:/bin" },
        uid: 64_199,
        gid: 64_199,
        cwd: "/",
        logFile: join(dir, `${name}.log`),
        pidFile,
      }),
    isHealthy: async () => true,
    startTimeoutMs: 5_000,
    stopGraceMs: 2_000,
    port: null,
    version: "1",
  };
}

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 200; tries += 1) {
    if (condition()) return;
    await sleep(50);
  }
  throw new Error(`not within 10 s: ${what}`);
}

t.test("parts run under their own user, a killed one is back at once, a stop ends all of them", async (t) => {
  const dir = t.testdir();
  const supervisor = new Supervisor(
    [shellPart(dir, "first", "id -u; exec sleep 60"), shellPart(dir, "second", "exec sleep 60", ["first"])],
    dir,
    log,
  );
  const run = supervisor.run();
  const phase = (name: string): string | undefined => supervisor.status().find((part) => part.name === name)?.phase;
  await until(() => phase("first") === "healthy" && phase("second") === "healthy", "both are healthy");
  t.match(readFileSync(join(dir, "first.log"), "utf8"), /^64199$/m);

  const before = supervisor.status()[0]?.pid ?? 0;
  process.kill(before, "SIGKILL");
  await until(() => phase("first") === "healthy" && supervisor.status()[0]?.pid !== before, "the killed part is back");
  t.equal(supervisor.status()[0]?.restarts, 1);
  t.equal(supervisor.status()[0]?.lastExit, "SIGKILL");

  const pids = supervisor.status().map((part) => part.pid ?? 0);
  supervisor.stop();
  await run;
  for (const pid of pids) t.throws(() => process.kill(pid, 0), { code: "ESRCH" });
});

t.test("what a killed supervisor left is ended before a new one starts it, and a recycled pid is left alone", async (t) => {
  const dir = t.testdir();
  const pidFile = join(dir, "left.pid");
  const left = await startProcess({
    program: "/bin/sleep",
    args: ["60"],
    env: {},
    uid: 0,
    gid: 0,
    cwd: "/",
    logFile: join(dir, "left.log"),
    pidFile,
  });
  await endPredecessor(pidFile, 2_000);
  t.equal(await left.exited, "SIGTERM");

  writeFileSync(pidFile, `${process.pid} 1\n`);
  await endPredecessor(pidFile, 2_000);
  t.pass("this very process carries another start time and lives");
});

t.test("a log that has grown is copied aside and cut while its writer goes on", async (t) => {
  const dir = t.testdir({ "part.log": "x".repeat(100), "small.log": "y" });
  rotateLogs(dir, 50);
  t.equal(readFileSync(join(dir, "part.log"), "utf8"), "");
  t.equal(readFileSync(join(dir, "part.log.1"), "utf8"), "x".repeat(100));
  t.equal(readFileSync(join(dir, "small.log"), "utf8"), "y");
});
