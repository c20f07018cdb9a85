/**
 * Common clients of S3 and of OCI registries through a scenario each: buckets, odd names, parts, copies, deletions, and the refusals that a user
 * meets (a wrong secret, the quota, a push), which must reach the user in words. Real front, engine, auditd and registry; the coordinator's own answers.
 *
 *     npm run prove -- s3-clients
 */
import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { randomBytes } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { openRegistry } from "./s3-clients/open-registry.ts";
import {
  configFiles,
  registryScenarios,
  type Scenario,
  scenarios,
  type Site,
  type Step,
} from "./s3-clients/scenarios.ts";
import { installTools } from "./s3-clients/tools.ts";
import { RunningFront } from "@resontech/s3-front/testing/running-front";
import type { ProofContext, ProofResult } from "../proof.ts";

const run = promisify(execFile);
const MIB = 1024 ** 2;
/** Of the bucket: the files of one scenario fit beside those of all before it, which stay as versions; the file `over` does not. */
const QUOTA_BYTES = 100 * MIB;
const STEP_MS = 120_000;

export default async function prove({ progress }: ProofContext): Promise<ProofResult> {
  const tools = await installTools(progress);
  await using stack = new AsyncDisposableStack();
  const folder = mkdtempSync(join(tmpdir(), "rtc-"));
  stack.defer(() => rmSync(folder, { recursive: true, force: true }));
  const big = randomBytes(20 * MIB);
  mkdirSync(join(folder, "mount"));
  mkdirSync(join(folder, "tree"));
  for (const [name, body] of Object.entries({
    small: "hello\n",
    big,
    over: Buffer.alloc(QUOTA_BYTES),
    "tree/big": big,
  }))
    writeFileSync(join(folder, name), body);

  const failures: string[] = [];
  const held: Record<string, number> = {};
  const front = stack.use(await RunningFront.create());
  const follow = async ({ client, env, steps }: Scenario): Promise<void> => {
    progress(client);
    held[client] = 0;
    for (const step of steps) {
      const wrong = await follows(step, {
        PATH: process.env["PATH"] ?? "",
        HOME: folder,
        LANG: "C.UTF-8",
        ...env,
      });
      if (wrong === null) held[client] += 1;
      else failures.push(`${client}, ${step.what}: ${wrong}`);
      if (wrong !== null) progress(`${client}, ${step.what}: ${wrong}`);
    }
  };
  const names = scenarios(tools, siteOf(front, await front.addUser(QUOTA_BYTES), folder)).map(
    ({ client }) => client,
  );
  for (const name of names) {
    const site = siteOf(front, await front.addUser(QUOTA_BYTES), folder);
    for (const [file, text] of Object.entries(configFiles(site)))
      writeFileSync(join(folder, file), text, { mode: 0o600 });
    for (const scenario of scenarios(tools, site))
      if (scenario.client === name) await follow(scenario);
  }
  // Where a step before it failed.
  await run("fusermount3", ["-u", join(folder, "mount")]).catch(() => null);
  const registry = stack.use(await openRegistry(folder));
  for (const scenario of registryScenarios(tools, { folder, ...registry })) await follow(scenario);
  return { ok: failures.length === 0, figures: { steps_that_held: held, failures } };
}

function siteOf(
  front: RunningFront,
  { bucket, keys }: Awaited<ReturnType<RunningFront["addUser"]>>,
  folder: string,
): Site {
  return { port: front.config.listen.port, bucket, folder, ...keys, caFile: front.ca.caFile };
}

/** Null where the step went as it must. */
async function follows(
  { command, says, fails }: Step,
  env: NodeJS.ProcessEnv,
): Promise<string | null> {
  const [program = "", ...args] = command;
  const { isDone, text } = await run(program, args, {
    env,
    timeout: STEP_MS,
    maxBuffer: 16 * MIB,
  }).then(
    ({ stdout, stderr }) => ({ isDone: true, text: stdout + stderr }),
    (error: { stdout?: string; stderr?: string; message: string }) => ({
      isDone: false,
      text: `${error.stdout ?? ""}${error.stderr ?? ""}` || error.message,
    }),
  );
  const end = text.trim().slice(-500);
  if (fails !== undefined)
    return !isDone && fails.test(text)
      ? null
      : `it ${isDone ? "succeeded" : "failed"} with: ${end}`;
  if (!isDone) return `it failed: ${end}`;
  return says === undefined || says.test(text) ? null : `it said: ${end}`;
}
