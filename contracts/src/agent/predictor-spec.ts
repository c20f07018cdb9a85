/** Between the coordinator and a replica's program (parts/agent/runners/resontech_predictor): `/rt/job/predictor.json`, written by the agent. */

/** Payload of `/rt/init`; the interpreter is the image's. */
export const PREDICTOR_COMMAND = ["python3", "-u", "/rt/runner/predict.py"] as const;
/** In the replica's container, which has a network of its own. */
export const PREDICTOR_PORT = 8_080;
export const PREDICTOR_SPEC = "predictor.json";
/** Of one call of `predict`: by then its caller has been told that there is no answer. */
export const PREDICT_MS = 60_000;
export const MAX_ANSWER_BYTES = 64 * 1024 ** 2;

export type PredictorSpec = {
  formatVersion: 1;
  /** Below the deployment's `scripts/`. */
  module: string;
  className: string;
  initArgs: Record<string, unknown>;
  /** In the container; null where the deployment names no weights. */
  modelPath: string | null;
  /** What `X-Replica-Id` says. */
  replica: string;
  port: number;
  maxOngoingRequests: number;
  maxAnswerBytes: number;
  /** One that runs for longer ends its replica: it can't be interrupted. */
  callLimitMs: number;
};
