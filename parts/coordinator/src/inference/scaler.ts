/** The one writer of how many replicas each deployment has: asks the reducer at each look, and carries out what it says in the transaction that keeps it. */
import { SharedRun } from "@resontech/frame/shared-run";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";
import type { Replicas } from "./replicas.ts";
import {
  type Deployment,
  type DeploymentEffect,
  type DeploymentStep,
  type Load,
  newDeployment,
  openReplicas,
  resumedDeployment,
  stepDeployment,
} from "./decisions/deployment.ts";
import type { ScalingPolicy } from "./decisions/scaling-policy.ts";
import { replicaFact } from "./decisions/replica-facts.ts";
import { type DeploymentTable, saveDeployment } from "./deployment-table.ts";
import { type Rollout, type Rollouts, takeOver } from "./rollouts.ts";

const LOOK_MS = 250;

export type ScalerParts = {
  commit: GroupCommit;
  replicas: Pick<
    Replicas,
    "running" | "of" | "setDue" | "stop" | "end" | "requestSleep" | "isRoomWanted"
  >;
  table: Pick<DeploymentTable, "of" | "state" | "ended">;
  rollouts: Pick<Rollouts, "of">;
  /** What the gateways say of the deployment now; null where nobody knows. */
  load: (deployment: string) => Load | null;
  now: () => number;
  /** What is told of deployments has changed. */
  onChange: () => void;
  onError: (error: unknown) => void;
};

export class Scaler implements AsyncDisposable {
  readonly #parts: ScalerParts;
  readonly #rounds = new SharedRun();
  /** As they are in the database, with what changes too often to be there: loads and timers. */
  readonly #known = new Map<string, Deployment>();
  #timer: NodeJS.Timeout | undefined;

  constructor(parts: ScalerParts) {
    this.#parts = parts;
  }

  run(): void {
    this.#timer = setInterval(() => this.kick(), LOOK_MS).unref();
  }

  /** Looks soon; at once when no look is under way. */
  kick(): void {
    void this.#rounds.run(() => this.look().catch(this.#parts.onError));
  }

  async look(): Promise<void> {
    const { replicas, table } = this.#parts;
    await Promise.all([
      ...table.ended().map((id) => this.#end(id)),
      ...replicas.running("predictor").map(async (id) => {
        await this.#lookAt(id);
        await this.#rollOut(id);
      }),
    ]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#rounds.idle();
  }

  async #lookAt(id: string): Promise<void> {
    const { commit, table, now } = this.#parts;
    const kept = this.#known.get(id) ?? resumed(table.state(id), now());
    const before = kept ?? newDeployment(now());
    const tried = this.#step(id, before);
    if (kept !== null && tried.effects.length === 0 && isSame(before, tried.deployment)) {
      this.#known.set(id, tried.deployment);
      return;
    }
    // What was seen may have changed while other work was written: inside the transaction nothing does.
    const after = await commit.run((db) => this.#keep(db, id, this.#step(id, before)));
    this.#known.set(id, after);
    this.#parts.onChange();
  }

  /** A newer deployment takes the place once it has as many replicas as callers are used to; whoever has none left ends. */
  async #rollOut(id: string): Promise<void> {
    const { commit, replicas, rollouts } = this.#parts;
    const deployment = this.#known.get(id);
    const rollout = rollouts.of(id);
    if (rollout.kind === "none" || deployment === undefined) return;
    const { from } = rollout.kind === "coming" ? rollout : { from: null };
    if (from !== null && openReplicas(deployment).length >= this.#policy(id, rollout).min)
      await commit.run((db) => takeOver(db, { from, to: id }));
    else if (from === null && deployment.due === 0 && deployment.replicas.length === 0)
      await commit.run(() => replicas.end(id, "replaced"));
  }

  /** Whoever ended the job has told its replicas already: what is left is the row. */
  async #end(id: string): Promise<void> {
    const { commit, table, now } = this.#parts;
    this.#known.delete(id);
    const left = table.state(id);
    if (left === null) return;
    const policy = this.#policy(id, { kind: "none" });
    const { deployment } = stepDeployment(left, { kind: "stop", now: now() }, policy);
    await commit.run((db) => saveDeployment(db, id, deployment));
  }

  #policy(id: string, rollout: Rollout): ScalingPolicy {
    const asked = this.#parts.table.of(id);
    if (asked === null) throw new Error(`there is no deployment ${id}`);
    if (rollout.kind === "replaced") return { ...asked.scaling, min: 0, max: 0, sleeps: false };
    if (rollout.kind === "coming") {
      const { min, max } = asked.scaling;
      const atOnce = Math.max(1, min, Math.min(max, rollout.ready));
      return { ...asked.scaling, min: atOnce, sleeps: false };
    }
    const { replicas } = this.#parts;
    const canSleep = replicas.of(id).replicas.every(({ can_sleep }) => can_sleep === 1);
    // Who sleeps keeps a worker that somebody waits for.
    const sleeps = canSleep && !replicas.isRoomWanted();
    return { ...asked.scaling, sleeps };
  }

  #keep(db: WriteHandle, id: string, { deployment, effects }: DeploymentStep): Deployment {
    saveDeployment(db, id, deployment);
    for (const effect of effects) this.#carryOut(id, effect);
    return deployment;
  }

  /** All that is known now: members first, for what the gateways say is of them. */
  #step(id: string, before: Deployment): DeploymentStep {
    const { replicas, rollouts, load, now } = this.#parts;
    const rollout = rollouts.of(id);
    const policy = this.#policy(id, rollout);
    const { due, replicas: rows } = replicas.of(id);
    const facts = rows
      .map(replicaFact)
      .map((fact) => (rollout.kind === "replaced" ? { ...fact, isLeaving: true } : fact));
    const at = now();
    const seen = stepDeployment(before, { kind: "members", now: at, due, replicas: facts }, policy);
    const heard = stepDeployment(
      seen.deployment,
      { kind: "load", now: at, load: load(id) },
      policy,
    );
    return { deployment: heard.deployment, effects: [...seen.effects, ...heard.effects] };
  }

  #carryOut(id: string, effect: DeploymentEffect): void {
    const { replicas } = this.#parts;
    switch (effect.kind) {
      case "place":
        return replicas.setDue(id, effect.due);
      case "stop":
        return replicas.stop(effect.replica);
      case "sleep":
        return replicas.requestSleep(effect.replica, true);
      case "wake":
        return replicas.requestSleep(effect.replica, false);
    }
  }
}

function resumed(left: Deployment | null, now: number): Deployment | null {
  return left === null ? null : resumedDeployment(left, now);
}

/** Nothing that others see has changed, nor what a restart would miss. */
function isSame(before: Deployment, after: Deployment): boolean {
  return (
    before.generation === after.generation &&
    before.failures === after.failures &&
    before.wakesMs === after.wakesMs &&
    before.waits === after.waits &&
    before.brokenUntil === after.brokenUntil
  );
}
