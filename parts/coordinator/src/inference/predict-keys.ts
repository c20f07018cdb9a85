/** Keys to call deployments: drawn here, shown once, and kept as their digest alone. */
import { createHash, createHmac, randomBytes } from "node:crypto";
import { PREDICT_KEY_PREFIX } from "@resontech/contracts/http-inference";
import { isTerminal, JOB_STATES } from "@resontech/contracts/job-states";
import { ApiError } from "../api-error.ts";
import type { GroupCommit } from "../db/group-commit.ts";
import type { WriteHandle } from "../db/open-database.ts";

const KEY_BYTES = 32;
const OVER = JOB_STATES.filter((state) => isTerminal(state));

/**
 * @property sha256 of the key, hex: what is kept
 * @property callbackSecret hex, kept as well: it signs what is posted for the deployment, and whoever has the key derives it
 */
export type DrawnKey = { key: string; sha256: string; callbackSecret: string };

/** Says what it is derived for: the digest of the key tells nothing of it. */
const CALLBACK_LABEL = "resontech callback v1";

export function drawPredictKey(): DrawnKey {
  const key = PREDICT_KEY_PREFIX + randomBytes(KEY_BYTES).toString("base64url");
  return {
    ...{ key, sha256: createHash("sha256").update(key).digest("hex") },
    callbackSecret: createHmac("sha256", key).update(CALLBACK_LABEL).digest("hex"),
  };
}

export class PredictKeys {
  readonly #commit: GroupCommit;

  constructor(commit: GroupCommit) {
    this.#commit = commit;
  }

  /**
   * Puts a new key in place of the deployment's own, which the gateway hears with its next table of routes.
   * @param complete writes the outcome of the operation, in the same transaction
   * @throws ApiError deployment_over
   */
  async replace(jobId: string, complete: (db: WriteHandle) => void): Promise<string> {
    const { key, sha256, callbackSecret } = drawPredictKey();
    await this.#commit.run((db) => {
      const { changes } = db
        .prepare(
          `UPDATE jobs SET spec = json_set(spec, '$.keySha256', ?, '$.callbackSecret', ?)
           WHERE id = ? AND state NOT IN (${OVER.map(() => "?").join(", ")})`,
        )
        .run(sha256, callbackSecret, jobId, ...OVER);
      if (changes === 0) throw new ApiError("deployment_over", `deployment ${jobId} has ended`);
      complete(db);
    });
    return key;
  }
}
