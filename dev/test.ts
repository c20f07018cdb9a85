/**
 * `npm test [-- FILE…]`: set-up (done before, by setup.mjs), engines, one appliance, then every room's tests against real parts.
 * Ends with `N passed, N failed` alone on a line; exit code 0 only when nothing failed and something ran.
 */
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { TestAppliance } from "./test-appliance.ts";
import { Phases } from "./phases.ts";
import { describeFailure } from "./tap-failure.ts";
import { summarizeTap } from "./tap-summary.ts";

const root = join(import.meta.dirname, "..");
const bin = (name: string): string => join(root, "node_modules", ".bin", name);

async function runTap(files: readonly string[], env: NodeJS.ProcessEnv, rawFile: string): Promise<number> {
  rmSync(rawFile, { force: true });
  const child = spawn(bin("tap"), ["run", "--reporter=terse", `--output-file=${rawFile}`, ...files], {
    cwd: root,
    stdio: "inherit",
    env,
  });
  return await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve(code ?? 1));
  });
}

const phases = new Phases("test", Number(process.env["RT_SETUP_MS"] ?? 0));
const files = process.argv.slice(2);
const results = join(root, ".cache", "test");
mkdirSync(results, { recursive: true });
/** Tests start hundreds of processes from the same sources: a start takes half the CPU once they are compiled. */
const compileCache = join(root, ".cache", "compile");

await using appliance = await phases.run("appliance", "one appliance, built and installed as a customer would", () =>
  TestAppliance.start(phases),
);
const rawFile = join(results, "results.tap");
const status = await phases.run("tests", "tests of every room", () =>
  runTap(files, { ...process.env, ...appliance.environment, NODE_COMPILE_CACHE: compileCache }, rawFile),
);

const { passed, skipped, failures } = summarizeTap(readFileSync(rawFile, "utf8"));
phases.say(`phases in seconds: ${JSON.stringify(phases.seconds)}, in all ${phases.totalSeconds}`);
phases.say(`raw results: ${rawFile}`);
// A run that tap calls bad although no assertion failed (killed, say) still counts as a failure.
const failed = status !== 0 && failures.length === 0 ? 1 : failures.length;
process.exitCode = failed > 0 || passed === 0 ? 1 : 0;
await appliance[Symbol.asyncDispose]();
for (const failure of failures) process.stdout.write(`\n${describeFailure(failure)}\n`);
if (status !== 0 && failures.length === 0) process.stdout.write(`\ntap ended with ${status} and named no failure\n`);
process.stdout.write(`\n${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}\n`);
