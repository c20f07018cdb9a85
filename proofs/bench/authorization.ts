/**
 * What a decision takes at 1,000 users × 200 projects: every tenth user is in all projects, the others in a few. Lists and single rows, of
 * sessions, keys and nodes; first in a process that has decided nothing yet, then warm. Beside it, in the same run, what the policy engine takes
 * for one question without an answer that is kept. Memory is what engine and policies add to the coordinator.
 *
 * `npm run prove -- authorization [DECISIONS] [SEED]`
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { COORDINATOR_NODE_FLAGS } from "@resontech/contracts/coordinator-config";
import type { ProofContext, ProofResult } from "../proof.ts";

const GOAL_P99_MS = 1;
const PROGRAM = join(import.meta.dirname, "authorization", "decide-many.ts");

export default async function prove({ progress, args }: ProofContext): Promise<ProofResult> {
  const decisions = args[0] ?? "200000";
  const seed = args[1] ?? String(Date.now() % 1_000_000);
  progress(`${decisions} decisions, seed ${seed}`);
  const printed = execFileSync(
    process.execPath,
    ["--expose-gc", ...COORDINATOR_NODE_FLAGS, PROGRAM, decisions, seed],
    { encoding: "utf8" },
  );
  const figures = JSON.parse(printed) as { p99_ms: number };
  return {
    ok: figures.p99_ms <= GOAL_P99_MS,
    figures: { ...figures, goal_p99_ms: GOAL_P99_MS },
  };
}
