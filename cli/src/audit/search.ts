/** `resontech audit search`: entries that the caller may see, a page after the other. */
import type { AuditEventRow, AuditEventsReply } from "@resontech/contracts/http-audit";
import { getJson } from "../api-client.ts";
import { CliError } from "../cli-error.ts";
import type { Settings } from "../settings.ts";
import { type Filters, queriesOf } from "./search-query.ts";

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
  from?: string;
  to?: string;
  oldest: boolean;
  /** Rows in all. */
  limit: number;
  cursor?: string;
};

export type Found = {
  events: AuditEventRow[];
  /** Where the next rows begin; null when these were all, or more than one query found them. */
  cursor: string | null;
  /** Other entries match, and were left out. */
  isCut: boolean;
  /** Entries that are in the log and not yet in the index. */
  behind: number;
  /** Shards of which entries may be missing. */
  incomplete: readonly string[];
  /** Jobs whose entries can't be told from those of the job that was asked for. */
  sameFolder: readonly string[];
};

const PAGE = 500;

/** What a person searches for; several queries answer some searches, and their rows are put in one order. @throws CliError */
export async function searchAudit(
  settings: Settings,
  { oldest, limit, cursor, ...filters }: SearchOptions,
): Promise<Found> {
  const queries = queriesOf(filters);
  const [only, ...more] = queries;
  if (only !== undefined && more.length === 0)
    return await searchOne(settings, { ...only, oldest, limit, cursor });
  if (cursor !== undefined)
    throw new CliError(
      "search_invalid",
      "--cursor goes with a search of one query alone",
      "Bound the search with --from and --to instead.",
    );
  return await searchMany(settings, queries, { oldest, limit });
}

/** Each entry once, in the log's order, the first `limit` of all. @throws CliError */
export async function searchMany(
  settings: Settings,
  queries: readonly Filters[],
  options: Shown,
): Promise<Found> {
  const found: Found[] = [];
  for (const query of queries) found.push(await searchOne(settings, { ...query, ...options }));
  return merged(found, options);
}

/** @property limit rows in all */
export type Shown = { oldest: boolean; limit: number };

export function merged(found: readonly Found[], { oldest, limit }: Shown): Found {
  const byEntry = new Map(
    found.flatMap(({ events }) =>
      events.map((event) => [`${event.shard}/${event.index}`, event] as const),
    ),
  );
  const events = [...byEntry.values()].sort(
    (a, b) => (oldest ? 1 : -1) * (inOrder(a.shard, b.shard) || a.index - b.index),
  );
  return {
    events: events.slice(0, limit),
    cursor: null,
    isCut: events.length > limit || found.some(({ isCut }) => isCut),
    behind: Math.max(0, ...found.map(({ behind }) => behind)),
    incomplete: [...new Set(found.flatMap(({ incomplete }) => incomplete))],
    sameFolder: [...new Set(found.flatMap(({ sameFolder }) => sameFolder))],
  };
}

/** `2026` before `2026-2` before `2027`. */
function inOrder(a: string, b: string): number {
  const [yearA = 0, restA = 1] = a.split("-").map(Number);
  const [yearB = 0, restB = 1] = b.split("-").map(Number);
  return yearA - yearB || restA - restB;
}

type OneQuery = Filters & { oldest: boolean; limit: number; cursor?: string | undefined };

async function searchOne(
  settings: Settings,
  { oldest, limit, cursor, ...filters }: OneQuery,
): Promise<Found> {
  const events: AuditEventRow[] = [];
  let at = cursor;
  for (;;) {
    const query = {
      ...filters,
      order: oldest ? "oldest" : "newest",
      limit: Math.min(PAGE, limit - events.length),
      cursor: at,
    };
    const page = (await getJson(settings, "/api/audit/events", query)) as AuditEventsReply;
    events.push(...page.events);
    at = page.cursor ?? undefined;
    if (!page.more || at === undefined)
      return { events, cursor: null, isCut: false, ...foundIn(page) };
    if (events.length >= limit) return { events, cursor: at, isCut: true, ...foundIn(page) };
  }
}

/** What the newest page says of how much was looked at. */
function foundIn({
  behind,
  incomplete,
  sameFolder = [],
}: AuditEventsReply): Pick<Found, "behind" | "incomplete" | "sameFolder"> {
  return { behind, incomplete, sameFolder };
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
