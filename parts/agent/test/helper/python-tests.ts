/**
 * Runs the Python tests of parts/agent/test/runners. Units run with the host's Python; the processes of whole attempts with the interpreter
 * `RT_TEST_PYTHON`, else in the root of the job image that the bundle builder left in its cache.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { SITE_PACKAGES } from "@resontech/airgap/python-tree";
import type { Test } from "tap";
import { jobImageRoot } from "./job-image-root.ts";

const tests = join(import.meta.dirname, "../runners");

type Outcome = { status: number | null; output: string };

/** Everything that `python3 -m unittest -v SUITE…` says, and how it ends. */
export async function runUnittest(
  suites: string | readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Outcome> {
  const child = spawn("python3", ["-m", "unittest", "-v", ...[suites].flat()], {
    cwd: tests,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, output };
}

/** Which interpreter has NVFlare: the tester's, else the one in the root of the job image. */
export function jobImage(): NodeJS.ProcessEnv | null {
  const python = process.env["RT_TEST_PYTHON"];
  if (python !== undefined) return { RT_TEST_PYTHON: python };
  const root = jobImageRoot();
  return root === null ? null : { RT_TEST_JOB_ROOT: root };
}

/** The packages of the job image for the host's Python, which has its version; null when no image was built yet. */
export function jobPackages(): NodeJS.ProcessEnv | null {
  const root = jobImageRoot();
  return root === null ? null : { PYTHONPATH: join(root, SITE_PACKAGES) };
}

const image = jobImage();
const skip =
  image === null &&
  "no job image in .cache/airgap: build a bundle first, or name an interpreter in RT_TEST_PYTHON";

/**
 * Classes of whole attempts, by what they show. One Python runs them all, since what forges attempts loads torch once for each. An attempt takes
 * a quarter of a minute, half on a busy machine: several files run side by side.
 */
export function testAttempts(t: Test, module: string, groups: Readonly<Record<string, string>>) {
  t.test(`whole attempts: ${Object.keys(groups).join(", ")}`, { skip }, async (t) => {
    const suites = Object.keys(groups).map((group) => `${module}.${group}`);
    const { status, output } = await runUnittest(suites, image ?? {});
    t.equal(status, 0, "every attempt ends as it should", { output });
    for (const [group, sentence] of Object.entries(groups))
      t.match(output, new RegExp(`^test_\\w+ \\(${module}\\.${group}\\b`, "m"), sentence);
  });
}
