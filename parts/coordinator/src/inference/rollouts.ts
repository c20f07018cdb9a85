/**
 * Deployments that take the place of others: `replaces` of a newer one's spec names the one before. Once enough of the newer one's replicas are ready,
 * address and key are its own too, and the older one gives its replicas back, each after its last call.
 */
import { isTerminal, JOB_STATES } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import { isOfKind } from "../kernel/kind-condition.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import { apiOf, type Deployment as Asked, deploymentOf } from "../workloads/predictor/predictor.ts";
import { openReplicas } from "./decisions/deployment.ts";
import type { DeploymentTable } from "./deployment-table.ts";

const OVER = JOB_STATES.filter((state) => isTerminal(state));

export type Rollout =
  /** It takes nobody's place. */
  | { kind: "none" }
  /** It waits to take the place of `from`, which has so many replicas that take calls. */
  | { kind: "coming"; from: string; ready: number }
  /** Another one has its place. */
  | { kind: "replaced" };

type Row = { replaces: string | null; replaced_by: string | null };

export class Rollouts {
  readonly #table: Pick<DeploymentTable, "state">;
  readonly #row;
  readonly #coming;

  constructor(db: ReadHandle, table: Pick<DeploymentTable, "state">) {
    this.#table = table;
    this.#row = db.prepare<[string], Row>(
      `SELECT jobs.spec ->> '$.replaces' AS replaces, deployments.replaced_by FROM jobs
       LEFT JOIN deployments ON deployments.job_id = jobs.id WHERE jobs.id = ?`,
    );
    this.#coming = db
      .prepare<string[], string>(
        `SELECT id FROM jobs WHERE ${isOfKind("predictor")} AND state NOT IN (${OVER.map(() => "?").join(", ")}) AND spec ->> '$.replaces' = ? LIMIT 1`,
      )
      .pluck();
  }

  of(jobId: string): Rollout {
    const row = this.#row.get(jobId);
    if (row === undefined) return { kind: "none" };
    if (row.replaced_by !== null) return { kind: "replaced" };
    if (row.replaces === null) return { kind: "none" };
    const before = this.#row.get(row.replaces);
    const left = before === undefined ? null : this.#table.state(row.replaces);
    if (before === undefined || left === null || before.replaced_by !== null)
      return { kind: "none" };
    return { kind: "coming", from: row.replaces, ready: openReplicas(left).length };
  }

  /**
   * @param from a deployment that its caller may stop
   * @throws ApiError not_replaceable
   */
  requireReplaceable(from: { id: string; spec: Asked; isOver: boolean }, asked: Asked): void {
    const refuse = (why: string) => {
      throw new ApiError("not_replaceable", `deployment ${from.id} ${why}`);
    };
    if (from.isOver) refuse("has ended");
    const row = this.#row.get(from.id);
    if (this.#table.state(from.id) === null) refuse("has not answered yet");
    if (row?.replaced_by != null) refuse(`has been replaced by ${row.replaced_by}`);
    const coming = this.#coming.get(...OVER, from.id);
    if (coming !== undefined) refuse(`is about to be replaced by ${coming}`);
    if (apiOf(from.spec) !== apiOf(asked))
      refuse("answers another API, so its callers could not go on");
  }
}

/** Leads whoever calls `from` to `to` from here on, inside a transaction, by the key that was good before. */
export function takeOver(db: WriteHandle, { from, to }: { from: string; to: string }): void {
  const spec = db.prepare<[string], string>("SELECT spec FROM jobs WHERE id = ?").pluck().get(from);
  const { changes } = db
    .prepare("UPDATE deployments SET replaced_by = ? WHERE job_id = ? AND replaced_by IS NULL")
    .run(to, from);
  if (changes === 0 || spec === undefined) return;
  // Addresses that `from` had taken over itself.
  db.prepare("UPDATE deployments SET replaced_by = ? WHERE replaced_by = ?").run(to, from);
  const { keySha256, callbackSecret } = deploymentOf({ spec });
  // Who has the key knows the secret; of a key that is too old there is none, and the newer one's own is nobody's.
  db.prepare(
    `UPDATE jobs SET spec = json_set(json_remove(spec, '$.callbackSecret'), '$.keySha256', ?) WHERE id = ?`,
  ).run(keySha256, to);
  if (callbackSecret !== undefined)
    db.prepare("UPDATE jobs SET spec = json_set(spec, '$.callbackSecret', ?) WHERE id = ?").run(
      ...([callbackSecret, to] as const),
    );
}
