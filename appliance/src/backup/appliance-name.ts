import type { PartContext } from "../parts/context.ts";

/** Answers the name with which the log's origin begins; a target of backups belongs to it. */
export function applianceName({ config }: Pick<PartContext, "config">): string {
  return `${config.appliance}.${config.customer}`;
}
