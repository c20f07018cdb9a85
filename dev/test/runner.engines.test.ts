/** The runner on files of its own making, in a tree of its own. */
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, relative } from "node:path";
import t, { type Test } from "tap";
import { BusyProcesses } from "../tests/busy-processes.ts";
import { ProcessSampler } from "../tests/process-sampler.ts";
import { endSharedDaemons } from "../tests/shared-daemons.ts";
import { runTests } from "../tests/run-tests.ts";

const own = join(import.meta.dirname, "..", "..");

function folder(t: Test): string {
  const dir = mkdtempSync(join(tmpdir(), "rt-runner-"));
  t.teardown(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** Runs plain programs that print TAP as files of engines. */
async function ran(t: Test, programs: Record<string, string>, among?: ProcessSampler) {
  const repository = folder(t);
  const files = Object.entries(programs).map(([name, text]) => {
    const file = `${name}.engines.test.mjs`;
    writeFileSync(join(repository, file), text);
    return file;
  });
  using alone = new ProcessSampler();
  const outcomes = await runTests([{ tier: "engines", files, env: process.env }], {
    ...{
      repository,
      results: repository,
      sampler: among ?? alone,
      recorded: new Map(),
      leasing: new Set(),
      sharing: new Set(),
    },
    say: () => {},
  });
  return outcomes.get("engines")!;
}

const OK = `console.log("TAP version 14\\nok 1 - fine\\n1..1");`;
const BURN = `for (const until = process.cpuUsage().user + 400_000; process.cpuUsage().user < until; );`;

t.test("what a file lets go counts as its cost, is ended, and fails it by name", async (t) => {
  const outcome = await ran(t, {
    lets: `import { spawn } from "node:child_process";
      spawn(process.execPath, ["-e", ${JSON.stringify(`${BURN} setInterval(() => {}, 1000)`)}], { detached: true, stdio: "ignore", cwd: "/" }).unref();
      setTimeout(() => { ${OK} }, 1500);`,
  });
  t.match(outcome.failures, [
    { fullname: /^lets\.engines\.test\.mjs > left running: \S*node -e for/ },
  ]);
  const [cost] = outcome.costs;
  t.ok(cost !== undefined && cost.partsSeconds > 0.3, JSON.stringify(cost));
  const left = spawnSync("pgrep", ["-f", "cpuUsage..user . 400_000"], { encoding: "utf8" });
  t.equal(left.stdout, "");
});

t.test(
  "a daemon that files share is no fault of the one that started it, and is ended after all of them",
  async (t) => {
    const sampler = new ProcessSampler();
    t.teardown(() => sampler[Symbol.dispose]());
    const pidFile = join(folder(t), "pid");
    const daemon = `echo $$ > ${pidFile}; exec -a /opt/aardvark-dns sleep 600`;
    const outcome = await ran(
      t,
      {
        first: `import { spawn } from "node:child_process";
      spawn("bash", ["-c", ${JSON.stringify(daemon)}], { detached: true, stdio: "ignore", cwd: "/" }).unref();
      setTimeout(() => { ${OK} }, 1500);`,
      },
      sampler,
    );
    t.same(outcome.failures, []);
    const pid = Number(readFileSync(pidFile, "utf8"));
    t.ok(process.kill(pid, 0), "others may still use it");
    t.match(await endSharedDaemons(sampler, 500), [
      /^some file left a network: \/opt\/aardvark-dns 600 still runs$/,
    ]);
    t.same(await endSharedDaemons(sampler), []);
  },
);

t.test("a name server that has outlived its networks is ended, and nobody left one", async (t) => {
  const sampler = new ProcessSampler();
  t.teardown(() => sampler[Symbol.dispose]());
  // Outside of the tree: a longer path would not fit into a command as it is told.
  const networks = mkdtempSync(join(tmpdir(), "rt-n-"));
  t.teardown(() => rmSync(networks, { recursive: true, force: true }));
  writeFileSync(join(networks, "aardvark.pid"), "1");
  const pidFile = join(networks, "..", `${basename(networks)}.pid`);
  t.teardown(() => rmSync(pidFile, { force: true }));
  const program = `${process.execPath} -e "setTimeout(() => {}, 600_000)" -- --config ${networks}`;
  const daemon = `echo $$ > ${pidFile}; exec -a /opt/aardvark-dns ${program}`;
  const { failures } = await ran(
    t,
    {
      first: `import { spawn } from "node:child_process";
      spawn("bash", ["-c", ${JSON.stringify(daemon)}], { detached: true, stdio: "ignore", cwd: "/" }).unref();
      setTimeout(() => { ${OK} }, 1500);`,
    },
    sampler,
  );
  t.same(failures, []);
  const pid = Number(readFileSync(pidFile, "utf8"));
  t.ok(process.kill(pid, 0), "others may still use it");
  t.same(await endSharedDaemons(sampler, 500), []);
});

t.test("a file that is killed, and one that says nothing, are failures", async (t) => {
  const { failures, passed } = await ran(t, {
    fine: OK,
    killed: `process.kill(process.pid, "SIGKILL");`,
    silent: "",
    wrong: `${OK} process.exitCode = 3;`,
  });
  t.equal(passed, 2);
  t.same(failures.map(({ fullname }) => fullname).sort(), [
    "killed.engines.test.mjs > was ended by SIGKILL",
    "silent.engines.test.mjs > it asserts nothing",
    "wrong.engines.test.mjs > ended with 3",
  ]);
});

t.test(
  "files that share a process are told apart: what each let go, and what each cost",
  async (t) => {
    // Below this tree, so that the files find tap.
    mkdirSync(join(own, ".cache"), { recursive: true });
    const dir = mkdtempSync(join(own, ".cache", "shared-"));
    t.teardown(() => rmSync(dir, { recursive: true }));
    const lets = `spawn(process.execPath, ["-e", ${JSON.stringify(`${BURN} setInterval(() => {}, 1000)`)}], { detached: true, stdio: "ignore", cwd: "/" }).unref();`;
    const waitsFor = `spawnSync(process.execPath, ["-e", ${JSON.stringify(BURN)}]);`;
    const files = Object.entries({ fine: "", lets, waits: waitsFor, last: "" }).map(
      ([name, text]) => {
        const file = join(dir, `${name}.engines.test.ts`);
        const imports = `import { spawn, spawnSync } from "node:child_process";\nimport t from "tap";`;
        writeFileSync(file, `${imports}\n${text}\nt.pass();\n`);
        return relative(own, file);
      },
    );
    using sampler = new ProcessSampler();
    const outcomes = await runTests([{ tier: "engines", files, env: process.env }], {
      ...{ repository: own, results: dir, sampler, recorded: new Map(), leasing: new Set() },
      ...{ sharing: new Set([".cache"]), say: () => {} },
    });
    const { failures, passed, costs } = outcomes.get("engines")!;
    t.equal(passed, 4);
    t.match(
      failures.map(({ fullname }) => fullname),
      [/\/lets\.engines\.test\.ts > left running: \S*node -e for/],
    );
    t.equal(costs.length, 4);
    const [dearest] = costs.toSorted((a, b) => b.cpuSeconds - a.cpuSeconds);
    t.match(dearest?.file, /\/waits\.engines\.test\.ts$/, JSON.stringify(costs));
  },
);

t.test("a tier waits for what it needs, while others run, and ends once", async (t) => {
  const repository = folder(t);
  for (const [name, said] of [
    ["a.engines", `${OK} console.error(process.env.RT_NEEDED)`],
    ["b.browser", OK],
  ])
    writeFileSync(join(repository, `${name}.test.mjs`), said!);
  using sampler = new ProcessSampler();
  const told: string[] = [];
  const { promise, resolve } = Promise.withResolvers<NodeJS.ProcessEnv>();
  const outcomes = await runTests(
    [
      {
        ...{ tier: "engines", files: ["a.engines.test.mjs"], env: promise },
        onEnd: async ({ passed }) => void told.push(`engines ended with ${passed}`),
      },
      {
        ...{ tier: "browser", files: ["b.browser.test.mjs"], env: process.env },
        onEnd: async ({ passed }) => {
          told.push(`browser ended with ${passed}`);
          resolve({ ...process.env, RT_NEEDED: "it is there" });
        },
      },
      {
        ...{ tier: "acceptance", files: ["acceptance/c.test.mjs", "acceptance/d.test.mjs"] },
        env: Promise.reject(new Error("no room for an appliance")),
      },
    ],
    {
      ...{ repository, results: repository, sampler, recorded: new Map() },
      ...{ leasing: new Set(), sharing: new Set() },
      say: () => {},
    },
  );
  t.same(told, ["browser ended with 1", "engines ended with 1"]);
  t.match(readFileSync(join(repository, "engines.tap"), "utf8"), "it is there");
  const { failures } = outcomes.get("acceptance")!;
  t.same(
    failures.map(({ fullname }) => fullname),
    ["c", "d"].map(
      (name) =>
        `acceptance/${name}.test.mjs > what it needs is not there: no room for an appliance`,
    ),
  );
});

t.test("busy processes are busy, and end with the run that is killed", async (t) => {
  const dir = folder(t);
  const program = `import { BusyProcesses } from ${JSON.stringify(join(import.meta.dirname, "..", "tests", "busy-processes.ts"))};
import { writeFileSync } from "node:fs";
const busy = new BusyProcesses(1);
writeFileSync(${JSON.stringify(join(dir, "pid"))}, String(busy.pids[0]));
setTimeout(() => process.kill(process.pid, "SIGKILL"), 500);`;
  writeFileSync(join(dir, "run.ts"), program);
  t.equal(spawnSync(process.execPath, [join(dir, "run.ts")]).signal, "SIGKILL");
  const pid = readFileSync(join(dir, "pid"), "utf8");
  for (let waits = 0; waits < 100 && isAlive(pid); waits++) execFileSync("sleep", ["0.1"]);
  t.notOk(isAlive(pid));
  using busy = new BusyProcesses(2);
  t.equal(busy.pids.length, 2);
});

function isAlive(pid: string): boolean {
  return spawnSync("kill", ["-0", pid]).status === 0;
}
