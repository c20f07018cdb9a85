/**
 * The Python of agent/runners. Units run with the host's Python; the processes of whole attempts with the interpreter `RT_TEST_PYTHON`,
 * else in the root of the job image that the bundle builder left in its cache.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import t from "tap";
import { jobImageRoot } from "./helper/job-image-root.ts";

const tests = join(import.meta.dirname, "runners");

type Outcome = { status: number | null; output: string };

async function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<Outcome> {
  const child = spawn(command, args, { cwd: tests, env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", ...env } });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const status = await new Promise<number | null>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  return { status, output };
}

/** Which interpreter has NVFlare: the tester's, else the one in the root of the job image. */
function jobImage(): NodeJS.ProcessEnv | null {
  const python = process.env["RT_TEST_PYTHON"];
  if (python !== undefined) return { RT_TEST_PYTHON: python };
  const root = jobImageRoot();
  return root === null ? null : { RT_TEST_JOB_ROOT: root };
}

t.test("the runner's own decisions", async (t) => {
  const { status, output } = await run("python3", ["-m", "unittest", "-v", "test_units"]);
  t.equal(status, 0, "every unit test passes", { output });
  t.match(output, /Ran \d\d tests/);
});

const image = jobImage();
const skip = image === null && "no job image in .cache/airgap: build a bundle first, or name an interpreter in RT_TEST_PYTHON";
for (const [group, sentence] of [
  ["Success", "a whole federated attempt succeeds and tells its rounds"],
  ["Resume", "a new attempt goes on from a committed round, or fails"],
  ["Rejoin", "a site whose container is replaced takes part in the running job again"],
  ["Link", "a connection between nodes that breaks costs seconds, and no round"],
  ["UserFaults", "each fault of the user's code has its reason and the traceback's last lines"],
  ["Ends", "killed and aborted attempts end as the contract says"],
] as const) {
  t.test(sentence, { skip }, async (t) => {
    const { status, output } = await run("python3", ["-m", "unittest", "-v", `test_attempts.${group}`], image ?? {});
    t.equal(status, 0, "every attempt ends as it should", { output });
    t.match(output, /Ran \d+ tests?/);
  });
}
