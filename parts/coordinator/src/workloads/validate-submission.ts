import type { ValidateTask } from "../submission/submit-task.ts";
import { validateCommand } from "./command/validate-command.ts";
import { validateFederation } from "./federation/submission/validate-federation.ts";

/** By the rules of the kind that the body names; the schema of the route lets no other through. */
export const validateSubmission: ValidateTask = (deps, bucket, body) =>
  body.kind === "command"
    ? validateCommand(deps, bucket, body)
    : validateFederation(deps, bucket, body);
