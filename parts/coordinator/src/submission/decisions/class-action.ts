import type { AskedClass } from "@resontech/contracts/http-tasks";
import type { Action } from "../../authorization/actions.ts";

/** What a submission asks for beside `job.submit`. A task that names no class has that of its kind, which is `train` for all of them. Pure. */
export function classActionOf(
  asked: AskedClass | null | undefined,
): Action & `job.class.${AskedClass}` {
  return `job.class.${asked ?? "train"}`;
}
