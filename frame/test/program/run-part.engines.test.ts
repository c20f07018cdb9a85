/** The frame of a process, on a part that does nothing else. */
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import t from "tap";
import { ask } from "../../src/operations/ask.ts";
import { add } from "./helper/adder.ts";

const PROGRAM = join(import.meta.dirname, "helper", "adder.ts");
const folder = mkdtempSync(join(tmpdir(), "rtr-"));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
for (const name of ["data", "control"]) mkdirSync(join(folder, name), { mode: 0o700 });
const socket = join(folder, "control", "sock");

function configured(own: object = { other: 2 }, more: object = {}): string {
  const file = join(folder, `${Math.random()}.json`);
  const sockets = { control: socket };
  writeFileSync(
    file,
    JSON.stringify({ logLevel: "info", sockets, dataDir: join(folder, "data"), own, ...more }),
  );
  return file;
}

type Run = { child: ChildProcess; output: () => string; code: Promise<number | null> };
function run(...args: string[]): Run {
  const child = spawn(process.execPath, [PROGRAM, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  t.teardown(() => child.kill("SIGKILL"));
  return {
    child,
    output: () => output,
    code: once(child, "close").then(([code]) => code as number | null),
  };
}

async function listening({ child, output }: Run): Promise<void> {
  while (!output().includes('"listening"')) {
    await Promise.race([once(child.stdout!, "data"), once(child, "close")]);
    if (child.exitCode !== null) throw new Error(output());
  }
}

t.test("it serves until it is told to end, and leaves in order", async (t) => {
  const running = run("--config", configured());
  await listening(running);
  t.same(await ask(socket, add, { one: 40 }, { timeoutMs: 60_000 }), { sum: 42 });
  running.child.kill("SIGTERM");
  t.equal(await running.code, 0);
  t.match(running.output(), /"stopping"[\s\S]*"disposed of"/);
  t.same(readdirSync(join(folder, "control")), []);
});

t.test("a second one on the same folder ends, and the first goes on", async (t) => {
  const first = run("--config", configured());
  await listening(first);
  const second = run("--config", configured());
  t.equal(await second.code, 1);
  t.match(second.output(), /adder: AlreadyRunningError/);
  t.same(await ask(socket, add, { one: 1 }, { timeoutMs: 60_000 }), { sum: 3 });
  first.child.kill("SIGKILL");
  await first.code;
  const third = run("--config", configured());
  await listening(third);
  t.same(
    await ask(socket, add, { one: 1 }, { timeoutMs: 60_000 }),
    { sum: 3 },
    "over a killed one",
  );
  third.child.kill("SIGTERM");
  t.equal(await third.code, 0);
});

t.test("it starts on a full disk, too", async (t) => {
  const full = join(folder, "full");
  mkdirSync(full);
  execFileSync("mount", ["-t", "tmpfs", "-o", "nr_inodes=1", "none", full]);
  t.teardown(() => execFileSync("umount", [full]));
  const running = run("--config", configured({ other: 2 }, { dataDir: full }));
  await listening(running);
  t.match(running.output(), /the disk is full/);
  running.child.kill("SIGTERM");
  t.equal(await running.code, 0);
});

t.test("what it can't run by is named, and nothing was begun", async (t) => {
  for (const [args, code, said] of [
    [["--help"], 0, /^usage: adder --config FILE \[--listen-fd NUMBER\]\n$/],
    [[], 2, /usage: adder/],
    [["--config", "x", "--listen-fd="], 2, /usage: adder/],
    [["--verbose"], 2, /adder: .*--verbose[\s\S]*usage: adder/],
    [["--config", join(folder, "none")], 1, /adder: ConfigInvalidError: .*ENOENT/],
    [
      ["--config", configured({ other: "2" })],
      1,
      /ConfigInvalidError: .*\/own\/other must be integer/,
    ],
    [["--config", configured({ other: 2 }, { more: 1 })], 1, /ConfigInvalidError/],
    [
      ["--config", configured({ other: 2, isMute: true })],
      1,
      /TypeError: adder is declared to serve/,
    ],
  ] as const) {
    const { output, code: ended } = run(...args);
    t.equal(await ended, code, args.join(" "));
    t.match(output(), said);
    t.same(readdirSync(join(folder, "control")), []);
  }
});
