/** Deployments as their jobs keep them, and where each is to be reached now. */
import type { Route } from "@resontech/contracts/inference-routes";
import type { ReadHandle } from "../db/open-database.ts";
import { type Deployment, deploymentOf } from "../workloads/predictor/predictor.ts";

type ReplicaRow = {
  id: string;
  name: string;
  created_at: number;
  spec: string | null;
  member: string;
  node: string;
  host: string;
  port: number;
  certificate_sha256: string;
  project_id: string;
};

export class DeploymentTable {
  readonly #spec;
  readonly #ready;
  readonly #reachable;

  constructor(db: ReadHandle) {
    this.#spec = db
      .prepare<[string], string | null>("SELECT spec FROM jobs WHERE id = ? AND kind = 'predictor'")
      .pluck();
    this.#ready = db
      .prepare<[string], number>(
        `SELECT count(*) FROM members JOIN attempts ON attempts.id = members.attempt_id
         WHERE attempts.job_id = ? AND attempts.ended_at IS NULL AND members.is_ready = 1 AND members.state = 'RUNNING'`,
      )
      .pluck();
    this.#reachable = db.prepare<[], ReplicaRow>(
      `SELECT jobs.id, jobs.name, jobs.created_at, jobs.spec, jobs.project_id, members.id AS member, members.node_id AS node, nodes.bridge_address AS host, attempts.bridge_port AS port,
         nodes.certificate_sha256
       FROM jobs JOIN attempts ON attempts.job_id = jobs.id AND attempts.ended_at IS NULL
       JOIN members ON members.attempt_id = attempts.id AND members.is_lead = 1 AND members.is_ready = 1
       JOIN nodes ON nodes.id = members.node_id
       WHERE jobs.kind = 'predictor' AND jobs.state = 'RUNNING' AND members.state = 'RUNNING'
         AND attempts.bridge_port IS NOT NULL AND nodes.bridge_address IS NOT NULL
       ORDER BY jobs.id`,
    );
  }

  /** Null where there is no such deployment. */
  of(jobId: string): Deployment | null {
    const spec = this.#spec.get(jobId);
    return spec === undefined ? null : deploymentOf({ spec });
  }

  /** Replicas that calls are led to. */
  ready(jobId: string): number {
    return this.#ready.get(jobId) ?? 0;
  }

  /** Every deployment that answers. */
  routes(): Route[] {
    return this.#reachable.all().map((row) => {
      const { id, name, created_at, spec, project_id } = row;
      const { engine, keySha256, visibility, maxOngoingRequests } = deploymentOf({ spec });
      const { member, node, host, port, certificate_sha256 } = row;
      return {
        ...{ deployment: id, name, api: engine === "predictor" ? "predict" : "openai" },
        ...{ createdAt: created_at, project: project_id },
        ...{ keySha256, visibility, maxOngoingRequests },
        replicas: [{ member, node, host, port, certificateSha256: certificate_sha256 }],
      };
    });
  }
}
