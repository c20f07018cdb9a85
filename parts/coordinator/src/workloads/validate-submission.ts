import type { ValidateTask } from "../submission/submit-task.ts";
import { validateCommand } from "./command/validate-command.ts";
import { validateDistributed } from "./distributed/validate-distributed.ts";
import { validateFederation } from "./federation/submission/validate-federation.ts";

/** By the rules of the kind that the body names; the schema of the route lets no other through. */
export const validateSubmission: ValidateTask = (deps, bucket, body) => {
  switch (body.kind) {
    case "command":
      return validateCommand(deps, bucket, body);
    case "distributed":
      return validateDistributed(deps, bucket, body);
    case "federation":
    case undefined:
      return validateFederation(deps, bucket, body);
  }
};
