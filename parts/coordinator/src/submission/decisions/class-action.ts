import type { AskedClass } from "@resontech/contracts/http-tasks";
import type { Action } from "../../authorization/actions.ts";

type OfJob = Exclude<AskedClass, "system">;

/** What a submission asks for beside `job.submit`, in which class a job of it would be. A task that names no class has that of its kind, which is `train` for all of them. Pure. */
export type ClassAsked =
  | { action: Action & `job.class.${OfJob}`; of: "job" }
  | { action: Action & "job.class.system"; of: "appliance" };

export function classActionOf(asked: AskedClass | null | undefined): ClassAsked {
  if (asked === "system") return { action: "job.class.system", of: "appliance" };
  return { action: `job.class.${asked ?? "train"}`, of: "job" };
}
