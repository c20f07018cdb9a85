/**
 * `RT_TEST_FILES=FILE… node test-host.ts`: test files, one after another in this one process, each as a subtest of its own name. A start of Node with tap
 * costs ten times what most unit files do, and a file of engines loads, compiles and parses what the next one of its room would again. What a file leaves
 * changed for the next one is a failure of that file.
 */
import { appendFileSync, readFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Test } from "tap";
import { differences, type ProcessState } from "./process-state.ts";

const TAP = "rt-tap:";
/** What a file's end leaves for a moment: a connection that closes, a process that was told to end. */
const SETTLES_MS = 10_000;
const LOOK_MS = 20;
/** Ticks a second of /proc/self/stat on x86-64: man 5 proc_pid_stat. */
const TICKS = 100;
// Names of folders begin with the program's; those of sockets below them must stay short.
process.argv[1] = "unit";
const { default: root } = await import("tap");
// Now, or its own listeners would count as those of the first file.
root.pipe(process.stdout);
// Each file has its limit for itself.
const timeout = Number(process.env["TAP_TIMEOUT"] ?? 30) * 1000;
root.setTimeout(0);
const repository = join(import.meta.dirname, "..", "..");
/** What each file means by `import t from "tap"`, by the file's address. */
const tests = new Map<string, Test>();
Object.assign(globalThis, { [Symbol.for("resontech.tests")]: tests });

registerHooks({
  resolve(specifier, context, next) {
    const parent = context.parentURL ?? "";
    return specifier === "tap" && tests.has(parent)
      ? { url: `${TAP}${parent}`, shortCircuit: true }
      : next(specifier, context);
  },
  load(url, context, next) {
    if (!url.startsWith(TAP)) return next(url, context);
    const key = JSON.stringify(url.slice(TAP.length));
    const source = `export default globalThis[Symbol.for("resontech.tests")].get(${key});`;
    return { format: "module", source, shortCircuit: true };
  },
});

// Arguments would become part of the names of tap's folders.
const files = (process.env["RT_TEST_FILES"] ?? "").split(delimiter);
delete process.env["RT_TEST_FILES"];
for (const file of files) {
  await begin(file);
  const [before, from] = [stateOfProcess(), cpuSeconds()];
  const startedAt = performance.now();
  const url = pathToFileURL(join(repository, file)).href;
  await root.test(file, { timeout }, async (t) => {
    tests.set(url, t);
    await import(url);
  });
  tests.delete(url);
  const left = await settledDifferences(before);
  if (left.length > 0) root.fail(`${file} > leaves the process as it was: ${left.join(", ")}`);
  restore(before);
  noteCost(file, cpuSeconds() - from, performance.now() - startedAt);
}

/** Tells the runner, and waits until it is done with what the file before has started. */
async function begin(file: string): Promise<void> {
  if (process.send === undefined) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  process.once("message", () => resolve());
  process.channel?.ref();
  process.send(file);
  await promise;
  process.channel?.unref();
}

function stateOfProcess(): ProcessState {
  return {
    cwd: process.cwd(),
    umask: process.umask(),
    env: { ...process.env },
    resources: process.getActiveResourcesInfo(),
    listeners: Object.fromEntries(
      process
        .eventNames()
        .filter((event) => typeof event === "string")
        .filter((event) => /^(?:SIG|uncaught|unhandled)/.test(event))
        .map((event) => [event, process.listenerCount(event)]),
    ),
  };
}

/** What a test closes is gone a moment after it has said so. What one look finds gone counts: output that is on its way comes and goes. */
async function settledDifferences(before: ProcessState): Promise<string[]> {
  let state = stateOfProcess();
  for (let waitedMs = 0; waitedMs < SETTLES_MS; waitedMs += LOOK_MS) {
    const { resources } = state;
    if (differences(before, { ...before, resources }).length === 0) break;
    await sleep(LOOK_MS);
    state = stateOfProcess();
  }
  return differences(before, state);
}

function restore({ cwd, umask, env }: ProcessState): void {
  process.chdir(cwd);
  process.umask(umask);
  for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
  Object.assign(process.env, env);
}

/** Of this process and of the children that it waited for. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  const stat = readFileSync("/proc/self/stat", "utf8");
  const ofChildren = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .slice(13, 15);
  return ofChildren.reduce((sum, ticks) => sum + Number(ticks) / TICKS, (user + system) / 1e6);
}

/** As `note-cpu.mjs` does for a file in a process of its own. */
function noteCost(file: string, cpu: number, wallMs: number): void {
  const into = process.env["RT_TEST_CPU_FILE"];
  if (into === undefined) return;
  const wall = (wallMs / 1000).toFixed(2);
  appendFileSync(into, `${cpu.toFixed(2)}\t${wall}\t${join(repository, file)}\n`);
}
