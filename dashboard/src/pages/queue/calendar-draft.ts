import type { CalendarBody } from "@resontech/contracts/http-pools";

/** An entry as it is being written. @property project empty: maintenance @property pool empty: of `nodes` @property from as the browser's clock shows it */
export type CalendarDraft = {
  kind: "maintenance" | "reservation";
  project: string;
  pool: string;
  nodes: string[];
  from: string;
  until: string;
  reason: string;
};

export const NEW_ENTRY: CalendarDraft = {
  ...{ kind: "maintenance", project: "", pool: "", nodes: [] },
  ...{ from: "", until: "", reason: "" },
};

export function newEntry({
  kind,
  project,
  pool,
  nodes,
  from,
  until,
  reason,
}: CalendarDraft): CalendarBody {
  return {
    ...(pool === "" ? { nodes } : { pool }),
    ...(kind === "maintenance" ? {} : { project }),
    ...{ from: new Date(from).toISOString(), until: new Date(until).toISOString() },
    ...(reason.trim() === "" ? {} : { reason: reason.trim() }),
  };
}
