/** `resontech audit search`: entries that the caller may see, a page after the other. */
import type { AuditEventRow, AuditEventsReply } from "@resontech/contracts/http-audit";
import { getJson } from "../api-client.ts";
import type { Settings } from "../settings.ts";

export type SearchOptions = {
  type?: string;
  prod?: string;
  phase?: string;
  outcome?: string;
  op?: string;
  actor?: string;
  kind?: string;
  object?: string;
  holds?: string;
  from?: string;
  to?: string;
  oldest: boolean;
  /** Rows in all. */
  limit: number;
  cursor?: string;
};

export type Found = {
  events: AuditEventRow[];
  /** Where the next rows begin; null when these were all. */
  cursor: string | null;
  /** Entries that are in the log and not yet in the index. */
  behind: number;
  /** Shards of which entries may be missing. */
  incomplete: readonly string[];
};

const PAGE = 500;

/** @throws CliError */
export async function searchAudit(settings: Settings, { oldest, limit, cursor, ...filters }: SearchOptions): Promise<Found> {
  const events: AuditEventRow[] = [];
  let at = cursor;
  for (;;) {
    const query = { ...filters, order: oldest ? "oldest" : "newest", limit: Math.min(PAGE, limit - events.length), cursor: at };
    const page = (await getJson(settings, "/api/audit/events", query)) as AuditEventsReply;
    events.push(...page.events);
    at = page.cursor ?? undefined;
    if (!page.more || at === undefined) return { events, cursor: null, ...foundIn(page) };
    if (events.length >= limit) return { events, cursor: at, ...foundIn(page) };
  }
}

/** What the newest page says of how much was looked at. */
function foundIn({ behind, incomplete }: AuditEventsReply): Pick<Found, "behind" | "incomplete"> {
  return { behind, incomplete };
}

export const SEARCH_HEAD = ["ENTRY", "TIME (UTC)", "TYPE", "PHASE", "OUTCOME", "BY", "FOR", "OBJECT"];

export function rowOf({ shard, index, t_log, type, phase, outcome, sub, onBehalfOf, kind, object }: AuditEventRow): string[] {
  const time = t_log.slice(0, 19).replace("T", " ");
  return [`${shard}/${index}`, time, type, phase, outcome ?? "-", sub, onBehalfOf ?? "-", `${kind} ${object}`];
}
