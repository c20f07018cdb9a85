import type { Deployment } from "../../src/workloads/predictor/predictor.ts";
import type { TestApp } from "./test-app.ts";

export const DEPLOYMENT = "deployment-RUNNING";
/** Of a key that nobody has. */
export const FIRST_KEY_SHA256 = "0".repeat(64);

/** A running deployment that nobody submitted: what the kernel shows of it, and its row. */
export async function putDeployment(
  { kernel, commit }: Pick<TestApp, "kernel" | "commit">,
  owner: { projectId: string; userId: string; bucket: string },
  id = DEPLOYMENT,
): Promise<void> {
  kernel.putRunning(owner, { id, kind: "predictor" });
  const spec: Deployment = {
    ...{ engine: "predictor", module: "echo", className: "Echo", initArgs: {}, modelPath: null },
    scaling: { min: 1, max: 1, targetOngoing: 4 },
    ...{ maxOngoingRequests: 4, visibility: "PRIVATE", callbackUrl: null, replaces: null },
    keySha256: FIRST_KEY_SHA256,
  };
  await commit.run((db) =>
    db
      .prepare(
        `INSERT INTO jobs (id, kind, spec, sequence, project_id, user_id, name, slug, bucket, output_root, state, version, desired, state_since, selection,
           only_mine, image, min_clients, resumable, warnings, shard_count, shard_uncompressed_bytes, audit_op, audit_index, audit_leaf, created_at, started_at)
         VALUES (@id, 'predictor', @spec, (SELECT coalesce(max(sequence), 0) + 1 FROM jobs), @projectId, @userId, 'running', 'x', @bucket, 'inference_jobs/x',
           'RUNNING', 3, 'run', 1, '{}', 0, '{}', 0, 0, '[]', 1, '[0]', 'op', 1, 'leaf', 1, 2)`,
      )
      .run({ id, spec: JSON.stringify(spec), ...owner }),
  );
}
