import type {
  CalendarBody,
  CalendarChangeBody,
  CalendarEntryReply,
} from "@resontech/contracts/http-pools";

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

/** What of an entry may be changed. */
export type ChangedDraft = Pick<CalendarDraft, "from" | "until" | "reason">;

export function changedDraftOf({
  from,
  until,
  reason,
}: Pick<CalendarEntryReply, "from" | "until" | "reason">): ChangedDraft {
  return { from: localMinute(from), until: localMinute(until), reason: reason ?? "" };
}

/** What is as it was is left out, so that the seconds of a time that nobody touched stay. An empty object: nothing. */
export function changedEntry(
  entry: Pick<CalendarEntryReply, "from" | "until" | "reason">,
  { from, until, reason }: ChangedDraft,
): CalendarChangeBody {
  const before = changedDraftOf(entry);
  const text = reason.trim();
  return {
    ...(from === before.from || from === "" ? {} : { from: new Date(from).toISOString() }),
    ...(until === before.until || until === "" ? {} : { until: new Date(until).toISOString() }),
    ...(text === before.reason || text === "" ? {} : { reason: text }),
  };
}

/** As a field of the browser's clock has it. */
function localMinute(instant: string): string {
  const at = new Date(instant);
  const two = (part: number) => String(part).padStart(2, "0");
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}T${two(at.getHours())}:${two(at.getMinutes())}`;
}
