/** Deployments as their jobs keep them: what each asks for, how it is, and where it is to be reached now. */
import type { Route } from "@resontech/contracts/inference-routes";
import { isOfKind } from "../kernel/kind-condition.ts";
import type { ReadHandle, WriteHandle } from "../db/open-database.ts";
import type { InferenceFacts } from "../metrics/decisions/inference-samples.ts";
import type { DeploymentWatch } from "./deployment-watch.ts";
import {
  apiOf,
  type Deployment as Asked,
  deploymentOf,
  openAiEngineOf,
} from "../workloads/predictor/predictor.ts";
import { type Deployment, openReplicas } from "./decisions/deployment.ts";
import { wakeP95 } from "./decisions/scaling-policy.ts";

type PlaceRow = {
  member: string;
  node: string;
  host: string;
  port: number;
  certificate_sha256: string;
};
type RouteRow = {
  id: string;
  name: string;
  created_at: number;
  spec: string | null;
  project_id: string;
  body: string;
};

/** In these states a replica has, or may still have, calls. */
const REACHED: readonly string[] = ["READY", "SUSPECT", "DRAINING"];

export class DeploymentTable {
  readonly #spec;
  readonly #body;
  readonly #places;
  readonly #running;
  readonly #failure;
  readonly #ended;
  readonly #replaced;

  constructor(db: ReadHandle) {
    this.#spec = db
      .prepare<[string], string | null>(
        `SELECT spec FROM jobs WHERE id = ? AND ${isOfKind("predictor")}`,
      )
      .pluck();
    this.#body = db
      .prepare<[string], string>("SELECT body FROM deployments WHERE job_id = ?")
      .pluck();
    this.#running = db.prepare<[], RouteRow>(
      `SELECT jobs.id, jobs.name, jobs.created_at, jobs.spec, jobs.project_id, deployments.body FROM jobs JOIN deployments ON deployments.job_id = jobs.id
       WHERE ${isOfKind("predictor")} AND jobs.state = 'RUNNING' ORDER BY jobs.id`,
    );
    this.#places = db.prepare<[string], PlaceRow>(
      `SELECT members.id AS member, members.node_id AS node, nodes.bridge_address AS host, attempts.bridge_port AS port,
         nodes.certificate_sha256
       FROM attempts JOIN members ON members.attempt_id = attempts.id AND members.state = 'RUNNING'
       JOIN nodes ON nodes.id = members.node_id
       WHERE attempts.job_id = ? AND attempts.ended_at IS NULL AND attempts.bridge_port IS NOT NULL AND nodes.bridge_address IS NOT NULL
       ORDER BY attempts.number`,
    );
    this.#ended = db
      .prepare<[], string>(
        `SELECT job_id FROM deployments JOIN jobs ON jobs.id = job_id
         WHERE deployments.state <> 'STOPPED' AND jobs.state <> 'RUNNING'`,
      )
      .pluck();
    this.#replaced = db.prepare<[string], { id: string; name: string }>(
      `SELECT job_id AS id, jobs.name FROM deployments JOIN jobs ON jobs.id = job_id WHERE replaced_by = ? ORDER BY job_id`,
    );
    this.#failure = db
      .prepare<[string], string>(
        `SELECT reason || ': ' || coalesce(message, '') FROM members WHERE job_id = ? AND reason IS NOT NULL
         ORDER BY created_at DESC, id DESC LIMIT 1`,
      )
      .pluck();
  }

  /** Those whose job runs no longer, and whose row says otherwise. */
  ended(): string[] {
    return this.#ended.all();
  }

  /** What was asked for; null where there is no such deployment. */
  of(jobId: string): Asked | null {
    const spec = this.#spec.get(jobId);
    return spec === undefined ? null : deploymentOf({ spec });
  }

  /** How it was left; null until it has loaded for the first time. Of its load nothing is kept. */
  state(jobId: string): Deployment | null {
    const body = this.#body.get(jobId);
    return body === undefined ? null : readBody(body);
  }

  /** Why the last replica that failed did so; null where none has. */
  failure(jobId: string): string | null {
    return this.#failure.get(jobId) ?? null;
  }

  /** Every deployment that has loaded and was not stopped, those without a replica too: calls wake them. */
  routes(): Route[] {
    return this.#running.all().map(({ id, name, created_at, spec, project_id, body }) => {
      const asked = deploymentOf({ spec });
      const { keySha256, visibility, maxOngoingRequests, limits } = asked;
      const { callbackUrl, callbackSecret } = asked;
      const engine = openAiEngineOf(asked);
      const replaced = this.#replaced.all(id);
      const formerNames = [...new Set(replaced.map((one) => one.name))].filter(
        (one) => one !== name,
      );
      const deployment = readBody(body);
      const { generation, state, wakesMs } = deployment;
      return {
        ...{ deployment: id, name, api: apiOf(asked) },
        ...(engine === null ? {} : { engine }),
        ...{ createdAt: created_at, project: project_id, aliases: replaced.map((one) => one.id) },
        ...(formerNames.length === 0 ? {} : { formerNames }),
        ...{ keySha256, visibility, maxOngoingRequests },
        ...(callbackSecret === undefined
          ? {}
          : { callback: { url: callbackUrl, secret: callbackSecret } }),
        ...(limits === undefined ? {} : { limits }),
        ...("contextTokens" in asked ? { contextTokens: asked.contextTokens } : {}),
        ...{ generation, state, wakeMs: wakeP95(wakesMs) },
        replicas: this.#replicas(id, deployment),
      };
    });
  }

  /** Of the same deployments, what there is to count. */
  facts(watch: Pick<DeploymentWatch<unknown>, "underWay" | "counted">): InferenceFacts[] {
    const counted = watch.counted();
    return this.#running.all().map(({ id, body }) => {
      const { state, replicas } = readBody(body);
      return { id, state, replicas, ...watch.underWay(id), numbers: counted.get(id) ?? null };
    });
  }

  #replicas(id: string, deployment: Deployment): Route["replicas"] {
    const reached = new Set(
      deployment.replicas.filter(({ state }) => REACHED.includes(state)).map(({ id: one }) => one),
    );
    const open = new Set(openReplicas(deployment));
    return this.#places
      .all(id)
      .filter(({ member }) => reached.has(member))
      .map(({ member, node, host, port, certificate_sha256 }) => ({
        ...{ member, node, host, port, certificateSha256: certificate_sha256 },
        isOpen: open.has(member),
      }));
  }
}

/**
 * Inside a transaction.
 * @throws Error where somebody has come further with the deployment: nothing of this step may stay
 */
export function saveDeployment(db: WriteHandle, jobId: string, deployment: Deployment): void {
  const { generation, state } = deployment;
  const { changes } = db
    .prepare(
      `INSERT INTO deployments (job_id, generation, state, body) VALUES (?, ?, ?, ?)
       ON CONFLICT (job_id) DO UPDATE SET generation = excluded.generation, state = excluded.state, body = excluded.body
       WHERE deployments.generation <= excluded.generation`,
    )
    .run(jobId, generation, state, JSON.stringify({ ...deployment, load: null }));
  if (changes === 0) throw new Error(`deployment ${jobId} is past generation ${generation}`);
}

function readBody(body: string): Deployment {
  return JSON.parse(body) as Deployment;
}
