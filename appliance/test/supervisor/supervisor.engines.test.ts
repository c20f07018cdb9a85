import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pino } from "pino";
import { ensureEngine } from "@resontech/airgap/engines";
import { wholeLines } from "@resontech/house/whole-lines";
import t, { type Test } from "tap";
import type { Part } from "../../src/parts/part.ts";
import { endLeftover, identify, isAlive, writePidFile } from "../../src/parts/process-identity.ts";
import { startProcess } from "../../src/parts/process-runner.ts";
import { takeExclusiveLock } from "../../src/config/exclusive-lock.ts";
import { PROVEN_AFTER_MS } from "../../src/supervisor/decisions/plan.ts";
import { logDestination } from "@resontech/frame/log-destination";
import { rotateLogs } from "../../src/supervisor/rotate-logs.ts";
import { Supervisor } from "../../src/supervisor/supervisor.ts";
import { shellPart } from "./shell-part.ts";

const log = pino({ level: "silent" });
const END = { graceMs: 2_000, stopSignal: "SIGTERM", wholeGroup: true } as const;

async function until(condition: () => boolean, what: string): Promise<void> {
  for (let tries = 0; tries < 2_000; tries += 1) {
    if (condition()) return;
    await sleep(50);
  }
  throw new Error(`never: ${what}`);
}

function phaseIn(supervisor: Supervisor, name: string): string | undefined {
  return supervisor.status().find((part) => part.name === name)?.phase;
}

/** Not the test's own folder: that is removed before anything is ended, and what runs there writes to it. */
function folderOf(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), "rt-supervisor-"));
  chmodSync(dir, 0o777);
  t.teardown(() => rmSync(dir, { recursive: true }));
  return dir;
}

/** The part of `supervise-shell-part.ts` runs. */
function hasBegun(dir: string): boolean {
  const file = join(dir, "only.log");
  return existsSync(file) && readFileSync(file, "utf8").includes("begin");
}

/** Runs the parts for the test and stops them whatever happens. */
function running(
  t: Test,
  parts: Part[],
  dir: string,
): { supervisor: Supervisor; ended: Promise<void> } {
  const supervisor = new Supervisor(parts, dir, log);
  const ended = supervisor.run();
  t.teardown(async () => {
    supervisor.stop();
    await ended;
  });
  return { supervisor, ended };
}

t.test(
  "parts run under their own user, a killed one is back at once, a stop ends all of them",
  async (t) => {
    const dir = folderOf(t);
    const { supervisor, ended } = running(
      t,
      [
        shellPart(dir, "first", "id -u; exec sleep 60"),
        shellPart(dir, "second", "exec sleep 60", ["first"]),
      ],
      dir,
    );
    await until(
      () => ["first", "second"].every((name) => phaseIn(supervisor, name) === "healthy"),
      "both are healthy",
    );
    t.match(readFileSync(join(dir, "first.log"), "utf8"), /^64199$/m);

    const before = supervisor.status()[0]?.pid ?? 0;
    process.kill(before, "SIGKILL");
    await until(
      () => phaseIn(supervisor, "first") === "healthy" && supervisor.status()[0]?.pid !== before,
      "it is back",
    );
    t.equal(supervisor.status()[0]?.restarts, 1);
    t.equal(supervisor.status()[0]?.lastExit, "SIGKILL");

    const pids = supervisor.status().map((part) => part.pid ?? 0);
    supervisor.stop();
    await ended;
    for (const pid of pids) t.equal(identify(pid), null);
    t.same(
      readdirSync(dir).filter((name) => name.endsWith(".pid")),
      [],
    );
  },
);

t.test(
  "a part that is kept outlives the stop, and the next supervisor takes its place",
  async (t) => {
    const dir = folderOf(t);
    const parts = () => [
      shellPart(dir, "kept", "exec sleep 60"),
      shellPart(dir, "other", "exec sleep 60", ["kept"]),
    ];
    const { supervisor, ended } = running(t, parts(), dir);
    await until(() => phaseIn(supervisor, "other") === "healthy", "both are healthy");
    const [kept, other] = supervisor.status().map(({ pid }) => pid ?? 0);
    supervisor.keep(["kept"]);
    supervisor.stop();
    await ended;
    t.not(identify(kept!), null);
    t.equal(identify(other!), null);
    const { supervisor: next } = running(t, parts(), dir);
    await until(() => phaseIn(next, "kept") === "healthy", "it runs again");
    t.equal(identify(kept!), null, "the one before has ended");
  },
);

t.test(
  "what is held for a part is given up once it has ended, and not for one that is kept",
  async (t) => {
    const dir = folderOf(t);
    const givenUp: string[] = [];
    const held = (name: string): Part => ({
      ...shellPart(dir, name, "exec sleep 60"),
      giveUp: () => void givenUp.push(name),
    });
    const { supervisor, ended } = running(t, [held("kept"), held("other")], dir);
    await until(() => phaseIn(supervisor, "other") === "healthy", "it is healthy");
    const [kept] = supervisor.status();
    t.same(givenUp, []);
    supervisor.keep(["kept"]);
    supervisor.stop();
    await ended;
    t.same(givenUp, ["other"]);
    const pid = kept?.pid ?? null;
    t.not(pid, null);
    // To kill 0 is to kill whoever runs this test.
    if (pid !== null) process.kill(pid, "SIGKILL");
  },
);

t.test("a supervisor that keeps a part ends at once, and the part goes on", async (t) => {
  const dir = mkdtempSync(join(tmpdir(), "rt-kept-"));
  chmodSync(dir, 0o777);
  const pidFile = join(dir, "only.pid");
  t.teardown(async () => {
    await endLeftover(pidFile, END);
    rmSync(dir, { recursive: true });
  });
  const program = join(import.meta.dirname, "supervise-shell-part.ts");
  const supervisor = spawn(process.execPath, [program, dir], { stdio: "ignore" });
  t.teardown(() => supervisor.kill("SIGKILL"));
  await until(() => hasBegun(dir) && existsSync(pidFile), "the supervisor has started its part");
  const kept = identify(Number(readFileSync(pidFile, "utf8").split(" ")[0]));
  supervisor.kill("SIGINT");
  const [code] = (await once(supervisor, "exit", { signal: AbortSignal.timeout(60_000) })) as [
    number,
  ];
  t.equal(code, 0);
  t.ok(kept !== null && isAlive(kept));
});

t.test("each restart is told, of a part that had proven itself as well", async (t) => {
  const dir = folderOf(t);
  const { supervisor } = running(t, [shellPart(dir, "steady", "exec sleep 60")], dir);
  const clock = performance.now.bind(performance);
  let aheadMs = 0;
  t.intercept(performance, "now", { value: () => clock() + aheadMs });
  for (const restarts of [1, 2]) {
    await until(() => phaseIn(supervisor, "steady") === "healthy", "it is healthy");
    aheadMs += PROVEN_AFTER_MS + 1_000;
    const before = supervisor.status()[0]?.pid ?? 0;
    process.kill(before, "SIGKILL");
    await until(
      () => phaseIn(supervisor, "steady") === "healthy" && supervisor.status()[0]?.pid !== before,
      "it is back",
    );
    t.equal(supervisor.status()[0]?.restarts, restarts);
  }
});

t.test(
  "a part that ends at once is started three times without a wait, then less and less often",
  async (t) => {
    const dir = folderOf(t);
    const { supervisor } = running(t, [shellPart(dir, "crashing", "date +%s%N; exit 7")], dir);
    const lines = (): string[] => wholeLines(join(dir, "crashing.log"));
    await until(() => lines().length >= 5, "four restarts");
    t.equal(supervisor.status()[0]?.lastExit, "exit 7");
    const starts = lines().map((line) => Number(BigInt(line) / 1_000_000n));
    const waits = starts.slice(1).map((at, index) => at - (starts[index] ?? 0));
    // That the first three do not wait is judged where it is decided: plan.test.ts.
    t.ok((waits[3] ?? 0) >= 1000, `then a second: ${waits.join(", ")} ms`);
  },
);

t.test(
  "a part that ignores the stop signal is killed after its grace, its children with it",
  async (t) => {
    const dir = folderOf(t);
    const part = shellPart(
      dir,
      "stubborn",
      "trap '' TERM; sleep 61 & echo $!; while :; do sleep 1; done",
    );
    const { supervisor, ended } = running(t, [{ ...part, stopGraceMs: 300 }], dir);
    await until(() => phaseIn(supervisor, "stubborn") === "healthy", "it is healthy");
    await until(
      () => readFileSync(join(dir, "stubborn.log"), "utf8").includes("\n"),
      "it has named its child",
    );
    const child = identify(Number(readFileSync(join(dir, "stubborn.log"), "utf8").trim()));
    supervisor.stop();
    await ended;
    t.equal(supervisor.status()[0]?.lastExit, "SIGKILL");
    await until(() => child !== null && !isAlive(child), "the child is gone too");
  },
);

t.test(
  "a part that stops answering is shown as unhealthy and nothing that waits for it starts",
  async (t) => {
    const dir = folderOf(t);
    let asked = 0;
    const isHealthy = async (): Promise<boolean> => {
      asked += 1;
      return false;
    };
    const first = { ...shellPart(dir, "mute", "exec sleep 60"), isHealthy };
    const { supervisor } = running(
      t,
      [first, shellPart(dir, "waiting", "exec sleep 60", ["mute"])],
      dir,
    );
    await until(
      () => phaseIn(supervisor, "mute") === "starting" && supervisor.status()[0]?.pid !== null,
      "it runs",
    );
    await until(() => asked >= 3, "it was asked again and again");
    t.equal(phaseIn(supervisor, "mute"), "starting");
    t.equal(phaseIn(supervisor, "waiting"), "idle");
  },
);

t.test(
  "a supervisor killed with -9 leaves its parts running; the next one replaces them without a double run",
  async (t) => {
    // Not the test's own folder: that is removed before anything is ended.
    const dir = mkdtempSync(join(tmpdir(), "rt-supervisor-"));
    chmodSync(dir, 0o777);
    const start = (): ChildProcess =>
      spawn(process.execPath, [join(import.meta.dirname, "supervise-shell-part.ts"), dir], {
        stdio: "ignore",
      });
    const pidFile = join(dir, "only.pid");
    t.teardown(async () => {
      await endLeftover(pidFile, END);
      rmSync(dir, { recursive: true });
    });
    const first = start();
    t.teardown(() => first.kill("SIGKILL"));
    // Its part may speak before it has noted whom it started.
    await until(
      () => hasBegun(dir) && existsSync(pidFile),
      "the first supervisor has started its part",
    );
    const left = identify(Number(readFileSync(pidFile, "utf8").split(" ")[0]));
    first.kill("SIGKILL");
    await once(first, "exit");
    t.ok(left !== null && isAlive(left), "the part outlives its supervisor");

    const second = start();
    t.teardown(() => second.kill("SIGKILL"));
    await until(() => left !== null && !isAlive(left), "the part that was left is ended");
    // It is removed with the part that was left, and made anew.
    const pidNow = (): string => {
      try {
        return readFileSync(pidFile, "utf8");
      } catch {
        return "";
      }
    };
    await until(
      () => pidNow() !== "" && !pidNow().startsWith(`${left?.pid ?? 0} `),
      "a new one runs",
    );
    second.kill("SIGTERM");
    await once(second, "exit");
    t.notOk(existsSync(pidFile));
    t.equal(readFileSync(join(dir, "only.log"), "utf8").match(/^begin$/gm)?.length, 2);
    t.notMatch(readFileSync(join(dir, "only.log"), "utf8"), /twice/);
  },
);

t.test(
  "one supervisor an instance: the second is refused until the first ends, however it ends",
  async (t) => {
    const file = join(folderOf(t), "lock");
    const helpers = [await ensureEngine("lock")];
    const holder = takeExclusiveLock(file, "a test", helpers);
    t.throws(() => takeExclusiveLock(file, "a test", helpers), { code: "already_running" });
    holder[Symbol.dispose]();
    const again = takeExclusiveLock(file, "a test", helpers);
    t.teardown(() => again[Symbol.dispose]());
    // A part must not inherit the lock, or it would hold it after its supervisor was killed.
    const seen = spawnSync("sh", ["-c", "ls -l /proc/self/fd"], { encoding: "utf8" });
    t.notMatch(seen.stdout, file);
  },
);

t.test("a recycled process id behind a pid file is left alone", async (t) => {
  const dir = folderOf(t);
  const pidFile = join(dir, "left.pid");
  const child = spawn("sleep", ["60"]);
  t.teardown(() => child.kill("SIGKILL"));
  writeFileSync(pidFile, `${child.pid ?? 0} 1\n`);
  await endLeftover(pidFile, END);
  t.ok(identify(child.pid ?? 0) !== null, "the process carries another start time and lives");
  t.notOk(existsSync(pidFile));

  const same = identify(child.pid ?? 0);
  if (same === null) throw new Error("it has just been alive");
  writePidFile(pidFile, same);
  await endLeftover(pidFile, { ...END, wholeGroup: false });
  t.equal(identify(same.pid), null);
});

t.test(
  "a process starts with a minimal environment and the memory score that it was given",
  async (t) => {
    const dir = folderOf(t);
    process.env["RT_CANARY"] = "of the supervisor";
    t.teardown(() => delete process.env["RT_CANARY"]);
    const started = await startProcess({
      program: "/bin/sh",
      args: ["-c", "env; umask; exec sleep 60"],
      env: { PATH: "/usr/bin:/bin", ONLY: "this" },
      uid: 64_199,
      gid: 64_199,
      cwd: "/",
      logFile: join(dir, "env.log"),
      pidFile: join(dir, "env.pid"),
      oomScore: 300,
    });
    t.teardown(() => started.kill());
    await until(
      () => readFileSync(join(dir, "env.log"), "utf8").includes("ONLY=this"),
      "it has spoken",
    );
    t.notMatch(readFileSync(join(dir, "env.log"), "utf8"), /RT_CANARY/);
    t.equal(readFileSync(`/proc/${started.pid ?? 0}/oom_score_adj`, "utf8").trim(), "300");
  },
);

t.test(
  "a log that has grown is copied aside and cut while its writer goes on; four older ones are kept",
  async (t) => {
    const dir = t.testdir({ "part.log": "x".repeat(100), "small.log": "y" });
    rotateLogs(dir, 50);
    t.equal(readFileSync(join(dir, "part.log"), "utf8"), "");
    t.equal(readFileSync(join(dir, "part.log.1"), "utf8"), "x".repeat(100));
    t.equal(readFileSync(join(dir, "small.log"), "utf8"), "y");
    for (const letter of ["a", "b", "c", "d", "e"]) {
      writeFileSync(join(dir, "part.log"), letter.repeat(60));
      rotateLogs(dir, 50);
    }
    t.same(readdirSync(dir).sort(), [
      "part.log",
      "part.log.1",
      "part.log.2",
      "part.log.3",
      "part.log.4",
      "small.log",
    ]);
    t.match(readFileSync(join(dir, "part.log.1"), "utf8"), /^e+$/);
  },
);

t.test("logs that can't be rotated do not end the supervisor", async (t) => {
  const dir = folderOf(t);
  // A file can't be renamed over a folder.
  mkdirSync(join(dir, "full.log.4"));
  writeFileSync(join(dir, "full.log.3"), "");
  writeFileSync(join(dir, "full.log"), "z".repeat(17 * 1024 * 1024));
  const { supervisor } = running(t, [shellPart(dir, "steady", "exec sleep 60")], dir);
  await until(() => phaseIn(supervisor, "steady") === "healthy", "it runs all the same");
  t.throws(() => rotateLogs(dir));
});

/** A file system of one MiB, full once `fill` has run. */
function smallDisk(t: Test): { disk: string; fill: () => void } {
  const disk = mkdtempSync(join(tmpdir(), "small-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk]);
  t.teardown(() => {
    execFileSync("umount", [disk]);
    rmdirSync(disk);
  });
  const fill = (): void =>
    void spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "filler")}`, "bs=4k"], {
      stdio: "ignore",
    });
  return { disk, fill };
}

t.test("a full log disk ends neither the supervisor nor its care for the parts", async (t) => {
  const dir = folderOf(t);
  const { disk: logs, fill } = smallDisk(t);
  const supervisorLog = openSync(join(logs, "supervisor.log"), "a");
  const supervisor = new Supervisor(
    [shellPart(dir, "steady", "exec sleep 60")],
    logs,
    pino(logDestination(supervisorLog)),
  );
  fill();
  const ended = supervisor.run();
  t.teardown(async () => {
    supervisor.stop();
    await ended;
    closeSync(supervisorLog);
  });
  await until(() => phaseIn(supervisor, "steady") === "healthy", "it is healthy");
  const before = supervisor.status()[0]?.pid ?? 0;
  process.kill(before, "SIGKILL");
  await until(
    () => phaseIn(supervisor, "steady") === "healthy" && supervisor.status()[0]?.pid !== before,
    "it is back",
  );
  t.equal(readFileSync(join(logs, "supervisor.log"), "utf8"), "");
});

t.test("a log that can't be copied aside keeps what was written before", async (t) => {
  const { disk, fill } = smallDisk(t);
  const before = {
    "part.log": "x".repeat(300_000),
    "part.log.1": "1",
    "part.log.2": "2",
    "part.log.4": "4",
  };
  for (const [name, text] of Object.entries(before)) writeFileSync(join(disk, name), text);
  fill();
  for (let tries = 0; tries < 5; tries += 1)
    t.throws(() => rotateLogs(disk, 50), { code: "ENOSPC" });
  t.same(readdirSync(disk).sort(), ["filler", ...Object.keys(before)]);
  for (const [name, text] of Object.entries(before))
    t.equal(readFileSync(join(disk, name), "utf8"), text);
});

t.test("single parts are stopped and started; the others run on", async (t) => {
  const dir = folderOf(t);
  let looks = 0;
  // A part that is not well yet is looked at again and again.
  const isHealthy = async (): Promise<boolean> => {
    looks += 1;
    return false;
  };
  const { supervisor } = running(
    t,
    [
      shellPart(dir, "first", "exec sleep 60"),
      shellPart(dir, "second", "exec sleep 60", ["first"]),
      { ...shellPart(dir, "third", "exec sleep 60"), isHealthy },
    ],
    dir,
  );
  await until(
    () => ["first", "second"].every((name) => phaseIn(supervisor, name) === "healthy"),
    "both are healthy",
  );
  const second = supervisor.status()[1]?.pid;
  supervisor.hold(["first", "nobody"]);
  await until(() => phaseIn(supervisor, "first") === "exited", "it is down");
  const before = looks;
  await until(() => looks >= before + 3, "the supervisor has looked again and again");
  t.match(supervisor.status()[0], { phase: "exited", isHeld: true });
  t.equal(supervisor.status()[1]?.pid, second);
  supervisor.release(["first"]);
  await until(() => phaseIn(supervisor, "first") === "healthy", "it is back");
  t.match(supervisor.status()[0], { isHeld: false, restarts: 1 });
});

t.test("a part that nobody wants does not run and is not shown, until it is wanted", async (t) => {
  const dir = folderOf(t);
  let isWanted = false;
  const { supervisor } = running(
    t,
    [
      shellPart(dir, "first", "exec sleep 60"),
      { ...shellPart(dir, "second", "exec sleep 60", ["first"]), isWanted: () => isWanted },
    ],
    dir,
  );
  await until(() => phaseIn(supervisor, "first") === "healthy", "the first is healthy");
  t.same(
    supervisor.status().map(({ name }) => name),
    ["first"],
  );
  for (const round of [1, 2]) {
    isWanted = true;
    await until(() => phaseIn(supervisor, "second") === "healthy", `it runs, round ${round}`);
    isWanted = false;
    await until(() => phaseIn(supervisor, "second") === undefined, `it is gone, round ${round}`);
  }
  t.equal(phaseIn(supervisor, "first"), "healthy");
});
