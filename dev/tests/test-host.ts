/**
 * `RT_TEST_FILES=FILE… node test-host.ts`: unit files, one after another in this one process, each as a subtest of its own name. A start of Node with tap
 * costs ten times what most of them do. What a file leaves changed for the next one is a failure of that file.
 */
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Test } from "tap";
import { differences, type ProcessState } from "./process-state.ts";

const TAP = "rt-tap:";
const MAX_WAITS = 100;
// Names of folders begin with the program's; those of sockets below them must stay short.
process.argv[1] = "unit";
const { default: root } = await import("tap");
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
  const [before, from] = [stateOfProcess(), process.cpuUsage()];
  const startedAt = performance.now();
  const url = pathToFileURL(join(repository, file)).href;
  await root.test(file, async (t) => {
    tests.set(url, t);
    await import(url);
  });
  tests.delete(url);
  const left = await settledDifferences(before);
  if (left.length > 0) root.fail(`${file} > leaves the process as it was: ${left.join(", ")}`);
  restore(before);
  noteCost(file, process.cpuUsage(from), performance.now() - startedAt);
}

function stateOfProcess(): ProcessState {
  return {
    cwd: process.cwd(),
    umask: process.umask(),
    env: { ...process.env },
    resources: process.getActiveResourcesInfo(),
  };
}

/** What a test closes is gone a moment after it has said so. What one look finds gone counts: output that is on its way comes and goes. */
async function settledDifferences(before: ProcessState): Promise<string[]> {
  let state = stateOfProcess();
  for (let waits = 0; waits < MAX_WAITS; waits++) {
    const { resources } = state;
    if (differences(before, { ...before, resources }).length === 0) break;
    await sleep(20);
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

/** As `note-cpu.mjs` does for a file in a process of its own. */
function noteCost(file: string, { user, system }: NodeJS.CpuUsage, wallMs: number): void {
  const into = process.env["RT_TEST_CPU_FILE"];
  if (into === undefined) return;
  const cpu = ((user + system) / 1e6).toFixed(2);
  appendFileSync(into, `${cpu}\t${(wallMs / 1000).toFixed(2)}\t${join(repository, file)}\n`);
}
