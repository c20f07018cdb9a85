/**
 * What the audit log adds to `POST /api/tasks`: two appliances of this tree, one as it is, the other with a stand-in that acknowledges at once in
 * auditd's place, are submitted to in turns. The S3 front's records of what the coordinator reads meanwhile are part of it.
 *
 * `npm run prove -- audit-submit [PAIRS]`
 */
import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { repository } from "../../dev/local-appliance.ts";
import { Workstation } from "../../dev/workstation.ts";
import { ApplianceApi } from "../../dev/appliance-api.ts";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { taskOf } from "@resontech/house/task-of";
import { quantile, spread } from "../statistics.ts";
import type { ProofContext, ProofResult } from "../proof.ts";

const WARM_UP = 20;
const MAX_ADDED_P99_MS = 10;
const STAND_IN = "proofs/bench/audit-submit/prompt-auditd/main.ts";

type Submitter = { api: ApplianceApi; times: number[]; submit: (name: string) => Promise<number> };

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const pairs = Number(args[0] ?? 300);
  await using audited = await ProofAppliance.install(progress);
  await using unaudited = await ProofAppliance.install(progress, audited.bundle, { second: true });
  progress("a stand-in for auditd in the second one");
  await unaudited.appliance.command(["stop"]);
  await build({
    ...{
      entryPoints: [join(repository, STAND_IN)],
      outfile: join(unaudited.appliance.root, "current/app/auditd.mjs"),
    },
    ...{
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node26",
      logLevel: "error",
      allowOverwrite: true,
    },
  });
  await unaudited.appliance.command(["start"]);
  const both: Submitter[] = [];
  for (const installed of [audited, unaudited]) {
    progress(`${pairs + WARM_UP} workspaces of the digits job`);
    both.push(await submitterOf(installed, pairs + WARM_UP));
  }
  const [withLog, without] = both as [Submitter, Submitter];
  for (let n = 0; n < pairs + WARM_UP; n += 1) {
    // Neither is always the first of a pair.
    for (const one of n % 2 === 0 ? both : both.toReversed()) {
      const ms = await one.submit(`fill-${n}`);
      if (n >= WARM_UP) one.times.push(ms);
    }
    if (n % 100 === 0) progress(`${n} pairs submitted`);
  }
  for (const { api } of both) api.close();
  const added = withLog.times.map((ms, at) => ms - without.times[at]!);
  const p = (values: readonly number[], share: number): number =>
    Number(quantile(values, share).toFixed(2));
  const addedP99 = p(withLog.times, 0.99) - p(without.times, 0.99);
  return {
    ok: withLog.times.length === pairs && addedP99 <= MAX_ADDED_P99_MS,
    figures: {
      pairs,
      with_log_ms: { p50: p(withLog.times, 0.5), p99: p(withLog.times, 0.99) },
      without_ms: { p50: p(without.times, 0.5), p99: p(without.times, 0.99) },
      added_p50_ms: Number((p(withLog.times, 0.5) - p(without.times, 0.5)).toFixed(2)),
      added_p99_ms: Number(addedP99.toFixed(2)),
      goal_added_p99_ms: MAX_ADDED_P99_MS,
      by_pair_ms: spread(added),
    },
  };
}

/** A job that holds all workers is first, so that nothing but submissions goes on. */
async function submitterOf(installed: ProofAppliance, count: number): Promise<Submitter> {
  const { appliance } = installed;
  await installed.workstation("submit");
  const scripts = installed.folder("scripts");
  for (const file of [
    "house/src/installed/fill_workspaces.py",
    "acceptance/test/jobs/slow_model.py",
  ])
    copyFileSync(join(repository, file), join(scripts, file.slice(file.lastIndexOf("/") + 1)));
  const filler = await Workstation.open(appliance, installed.folder("submit"), scripts);
  await filler.events(["/example/fill_workspaces.py", "--hold", "--shards", "/work/shards"]);
  await filler.python(["/example/fill_workspaces.py", "--from", "hold", "--count", String(count)]);
  const api = new ApplianceApi(appliance);
  const submit = async (name: string): Promise<number> => {
    const from = performance.now();
    const { status, body } = await api.call("POST", "/api/tasks", taskOf(name));
    const ms = performance.now() - from;
    if (status !== 201) throw new Error(`${name} was answered ${status}: ${JSON.stringify(body)}`);
    return ms;
  };
  return { api, times: [], submit };
}
