/** Which objects of a bucket may be models: what a site's and a project's export control are about. Pure. */

/** Below a job's output root: where every kind of job that trains leaves its model, however it ended. HOSTED-API "Bucket layout". */
export const MODEL_CHECKPOINT = "model_out/checkpoint.pt";

/** What the platform itself writes below `files_out/`; whatever else lies there the job's code wrote, and that may be a model. */
const OWN_FILES = /(^|\/)files_out\/(training_log\.txt|metrics\.jsonl|logs\/[^/]+\.log)$/;

/** Whether a key lies where models may be, at any depth. */
export function isModelOutput(key: string): boolean {
  return /(^|\/)(model_out|files_out)\//.test(key) && !OWN_FILES.test(key);
}

/** Whether a key may be an output of a job that leaves by approval alone: a model, what a job's code wrote, or a checkpoint. */
export function mayNeedApproval(key: string): boolean {
  return isModelOutput(key) || key.startsWith("ckpt/");
}
