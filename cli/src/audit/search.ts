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
  below?: string;
  holds?: string;
  concerns?: string;
  approval?: string;
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
  /** Jobs whose entries can't be told from those of the job that was asked for. */
  sameFolder: readonly string[];
  /** False: which objects are those of the job that was asked for is not known. */
  areObjectsKnown: boolean;
};

const PAGE = 500;

/** What a person searches for, page after page. The rules of a search are the API's: it refuses what can match nothing. @throws CliError */
export async function searchAudit(settings: Settings, options: SearchOptions): Promise<Found> {
  return await pagesOf(options, async (query) => {
    return await getJson(settings, "/api/audit/events", { query });
  });
}

export type Paged = { oldest: boolean; limit: number; cursor?: string };

type Page = { order: "oldest" | "newest"; limit: number; cursor: string | undefined };

/** @param ask for one page of an answer by cursor @throws CliError */
export async function pagesOf<F extends object>(
  { oldest, limit, cursor, ...filters }: Paged & F,
  ask: (query: Omit<F, keyof Paged> & Page) => Promise<AuditEventsReply>,
): Promise<Found> {
  const events: AuditEventRow[] = [];
  let at = cursor;
  for (;;) {
    const page = await ask({
      ...filters,
      order: oldest ? "oldest" : "newest",
      limit: Math.min(PAGE, limit - events.length),
      cursor: at,
    });
    events.push(...page.events);
    at = page.cursor ?? undefined;
    if (!page.more || at === undefined) return { events, cursor: null, ...foundIn(page) };
    if (events.length >= limit) return { events, cursor: at, ...foundIn(page) };
  }
}

/** What the newest page says of how much was looked at. */
function foundIn({
  behind,
  incomplete,
  sameFolder = [],
  areObjectsKnown = true,
}: AuditEventsReply): Omit<Found, "events" | "cursor"> {
  return { behind, incomplete, sameFolder, areObjectsKnown };
}

export const SEARCH_HEAD = [
  "ENTRY",
  "TIME (UTC)",
  "TYPE",
  "PHASE",
  "OUTCOME",
  "BY",
  "FOR",
  "OBJECT",
];

/** A commitment is 64 characters; so many of them and a star find its entries with `--object`. */
const SHOWN_COMMITMENT = 12;

export function rowOf({
  shard,
  index,
  t_log,
  type,
  phase,
  outcome,
  sub,
  onBehalfOf,
  kind,
  object,
}: AuditEventRow): string[] {
  const time = t_log.slice(0, 19).replace("T", " ");
  const id = kind === "object" ? `${object.slice(0, SHOWN_COMMITMENT)}*` : object;
  return [
    `${shard}/${index}`,
    time,
    type,
    phase,
    outcome ?? "-",
    sub,
    onBehalfOf ?? "-",
    `${kind} ${id}`,
  ];
}
