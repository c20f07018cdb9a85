/**
 * The tests of S3 that the engine's makers publish (they ship in its binary), through the door: the real front, engine and auditd, the coordinator's own
 * answers. Each test is a process of its own. What must fail is kept in a list, each with its reason; a test that fails and is not there fails the proof,
 * and so does one that is there and passes.
 *
 *     npm run prove -- s3-conformance [PATTERN]
 */
import { execFile } from "node:child_process";
import { dirname } from "node:path";
import { promisify, stripVTControlCharacters } from "node:util";
import { ensureEngine } from "@resontech/airgap/engines";
import { RunningFront } from "@resontech/s3-front/testing/running-front";
import type { ProofContext, ProofResult } from "../proof.ts";
import { EXPECTED_FAILURES, NOT_RUN } from "./s3-conformance/expected-failures.ts";
import { OwnerProxy } from "./s3-conformance/owner-proxy.ts";

const run = promisify(execFile);
const TEST_MS = 120_000;
const TELL_EVERY = 50;
/** The tests name their buckets by counting from one. */
const FIRST_BUCKET = "test-bucket-1";

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const engine = await ensureEngine("s3");
  const all = await testsOf(engine);
  const pattern = new RegExp(args[0] ?? "");
  const isRun = (name: string): boolean =>
    pattern.test(name) && !NOT_RUN.some(({ tests }) => tests.test(name));
  const names = all.filter(isRun);
  const expected = new Map(
    EXPECTED_FAILURES.flatMap(({ reason, tests }) => tests.map((name) => [name, reason] as const)),
  );

  await using stack = new AsyncDisposableStack();
  const front = stack.use(await RunningFront.create());
  const user = await front.addUser(1024 ** 3, FIRST_BUCKET);
  front.dropBucket(FIRST_BUCKET);
  const proxy = stack.use(await OwnerProxy.start(front, user));
  const env = {
    ...{ AWS_ACCESS_KEY_ID: user.keys.accessKeyId, PATH: process.env["PATH"] ?? "" },
    AWS_SECRET_ACCESS_KEY: user.keys.secretAccessKey,
  };
  const failed = new Map<string, string>();
  for (const [at, name] of names.entries()) {
    if (at % TELL_EVERY === 0) progress(`${at} of ${names.length} tests, ${failed.size} failed`);
    const why = await failureOf(engine, proxy.endpoint, name, env);
    if (why !== null) failed.set(name, why);
    if (why !== null && !expected.has(name)) progress(`${name}: ${why}`);
    proxy.removeBuckets();
  }

  const unexpected = [...failed].filter(([name]) => !expected.has(name));
  const passedNow = names.filter((name) => expected.has(name) && !failed.has(name));
  const unknown = [...expected.keys()].filter((name) => !all.includes(name));
  return {
    ok: names.length > 0 && [unexpected, passedNow, unknown].every(({ length }) => length === 0),
    figures: {
      ...{ tests: names.length, passed: names.length - failed.size },
      failed_as_expected: failed.size - unexpected.length,
      not_run: all.filter((name) => NOT_RUN.some(({ tests }) => tests.test(name))).length,
      ...{ failures: Object.fromEntries(unexpected), passed_unexpectedly: passedNow, unknown },
    },
  };
}

/** The names of all tests that the engine's binary has. */
async function testsOf(engine: string): Promise<string[]> {
  const { stdout } = await run(engine, ["test", "--help"], { maxBuffer: 16 * 1024 ** 2 });
  return [...stdout.matchAll(/^ +([A-Z]\w+) +Runs \1 integration test$/gm)]
    .map(([, name = ""]) => name)
    .sort();
}

/** Null where the test passed. */
async function failureOf(
  engine: string,
  endpoint: string,
  name: string,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const args = ["--region", "garage", "test", "--allow-insecure", "--endpoint", endpoint, name];
  // Some of them start the engine's program for its own administration, from where they run.
  const options = { cwd: dirname(engine), env, timeout: TEST_MS };
  const text = await run(engine, args, options).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout?: string; stderr?: string; message: string }) =>
      `${error.stdout ?? ""}${error.stderr ?? ""}` || error.message,
  );
  const lines = stripVTControlCharacters(text).split("\n");
  if (
    lines.some((line) => line.startsWith("PASS ")) &&
    !lines.some((line) => line.startsWith("FAIL "))
  )
    return null;
  const line = lines.find((one) => one.startsWith("FAIL ")) ?? text.trim();
  return line.replace(/^FAIL \w+: /, "").slice(0, 300);
}
