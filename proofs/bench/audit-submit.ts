/**
 * What the audit log adds to `POST /api/tasks`: two appliances of this tree, one as it is, the other with a stand-in that acknowledges at once in
 * auditd's place, are submitted to in turns. The S3 front's records of what the coordinator reads meanwhile are part of it.
 *
 * `npm run prove -- audit-submit [PAIRS]`
 */
import { join } from "node:path";
import { build } from "esbuild";
import { fillWorkspaces } from "@resontech/house/filled-workspaces";
import { ProofAppliance } from "@resontech/house/proof-appliance";
import { taskOf } from "@resontech/house/task-of";
import { ApplianceApi } from "@resontech/house/appliance-api";
import { repository } from "@resontech/house/local-appliance";
import type { ProofContext, ProofResult } from "../proof.ts";
import { quantile } from "../statistics.ts";
import { bench, byRound } from "./measure/bench.ts";

const WARM_UP = 20;
const MAX_ADDED_P99_MS = 10;
const STAND_IN = "proofs/bench/audit-submit/prompt-auditd/main.ts";

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
  using stack = new DisposableStack();
  const submitter = async (installed: ProofAppliance) => {
    progress(`${pairs + WARM_UP} workspaces of the digits job`);
    await fillWorkspaces(installed, "submit", pairs + WARM_UP);
    const api = new ApplianceApi(installed.appliance);
    stack.defer(() => api.close());
    return { measure: (round: number) => submit(api, `fill-${round + WARM_UP}`) };
  };
  const { measured } = await bench(
    { withLog: await submitter(audited), without: await submitter(unaudited) },
    {
      ...{ rounds: pairs, warmUp: WARM_UP },
      told: (_, n) => {
        if (n % 100 === 0) progress(`${n} pairs submitted`);
      },
    },
  );
  const { withLog, without } = measured;
  const p = (values: readonly number[], share: number): number =>
    Number(quantile(values, share).toFixed(2));
  const addedP99 = p(withLog, 0.99) - p(without, 0.99);
  return {
    ok: withLog.length === pairs && addedP99 <= MAX_ADDED_P99_MS,
    figures: {
      pairs,
      with_log_ms: { p50: p(withLog, 0.5), p99: p(withLog, 0.99) },
      without_ms: { p50: p(without, 0.5), p99: p(without, 0.99) },
      added_p50_ms: Number((p(withLog, 0.5) - p(without, 0.5)).toFixed(2)),
      added_p99_ms: Number(addedP99.toFixed(2)),
      goal_added_p99_ms: MAX_ADDED_P99_MS,
      by_pair_ms: byRound(withLog, without, (own, beside) => own - beside),
    },
  };
}

/** @returns milliseconds until it was accepted */
async function submit(api: ApplianceApi, name: string): Promise<number> {
  const from = performance.now();
  const { status, body } = await api.call("POST", "/api/tasks", taskOf(name));
  const ms = performance.now() - from;
  if (status !== 201) throw new Error(`${name} was answered ${status}: ${JSON.stringify(body)}`);
  return ms;
}
