/** Answers searches on a unix socket. Who may ask is settled by the socket's folder; what was asked is logged by the asker, before it hands the answer on. */
import { parseLeaf } from "../../event/leaf.ts";
import { LogDamagedError } from "../../log/log-reader.ts";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import type { Logger } from "pino";
import { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";
import type { LogFollower } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import { proveEvent } from "../proof/prove-event.ts";
import { EventParams, EventQuery, EventsQuery, StatsQuery } from "./api-schemas.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { EventFilter } from "./event-filter.ts";
import type { Indexer } from "./indexer.ts";
import { searchEvents } from "./search-events.ts";
import { SearchError } from "./search-error.ts";
import type { SearchIndex } from "./search-index.ts";
import type { TokenFeed } from "./token-feed.ts";

const DAY_MS = 86_400_000;
/** More types than the catalogue has, for each day that may be asked for. */
const MAX_COUNTS = 100_000;

export type SearchDeps = {
  index: SearchIndex;
  indexer: Indexer;
  follower: LogFollower;
  /** Null where there is no vault: then nothing is found by a value. */
  tokens: TokenFeed | null;
  /** What the other parts of this process say of themselves. */
  statusOfParts: () => Record<string, unknown>;
  log: Logger;
};

/** The caller listens, and closes. */
export function buildSearchApp({ index, indexer, follower, tokens, statusOfParts, log }: SearchDeps): FastifyInstance {
  const logger: FastifyBaseLogger = log;
  const logController = new LogController({ disableRequestLogging: true });
  const app = Fastify({ loggerInstance: logger, bodyLimit: 1_024, requestIdHeader: false, logController });
  const readEvents = reader(EventsQuery, ["limit"]);
  const readEventParams = reader(EventParams, ["index"]);
  const readEventQuery = reader(EventQuery);
  const readStats = reader(StatsQuery, ["days"]);

  app.get("/events", async (request) => {
    const query = readEvents(request.query);
    const filter = await filterOf(query, tokens);
    const page = await searchEvents(index, filter, placeOf(index, query.cursor, filter), query.limit);
    return {
      events: page.events.map(({ atMs, slug, ...event }) => ({ shard: slug, ...event, t_log: new Date(atMs).toISOString() })),
      cursor: page.at === null ? null : encodeCursor(page.at, filter),
      more: page.more,
      behind: filter.token === undefined || tokens === null ? indexer.behind : Math.max(indexer.behind, tokens.behind),
      incomplete: follower.incomplete,
    };
  });

  app.get("/events/:index", async (request) => {
    const { index } = readEventParams(request.params);
    const { shard: slug, sub } = readEventQuery(request.query);
    const shard = slug === undefined ? follower.shards.at(-1) : follower.shards.find((one) => one.slug === slug);
    const unknown = new SearchError("event_unknown", `there is no entry ${index} in shard ${slug ?? "(the newest)"}`);
    if (shard === undefined || index >= shard.tree.size) throw unknown;
    const { leaf, leafHash, proof } = await proveEvent(shard, index, (note) => follower.openNote(shard, note));
    const event = parseLeaf(leaf);
    // As if it were not there: that it is would say something already.
    if (sub !== undefined && event.actor.sub !== sub && event.on_behalf_of !== sub) throw unknown;
    return { shard: shard.slug, index, leafHash: leafHash.toString("hex"), event, proof };
  });

  app.get("/stats", async (request) => {
    const { days } = readStats(request.query);
    const fromDay = new Date(Date.now() - (days - 1) * DAY_MS).toISOString().slice(0, 10);
    return {
      byType: index.countsByType(),
      byDay: index.countsByDay(fromDay, MAX_COUNTS),
      behind: indexer.behind,
      incomplete: follower.incomplete,
    };
  });

  app.get("/status", async () => ({
    shards: follower.shards.map(({ slug, origin, tree, fault }) => ({ slug, origin, size: tree.size, fault })),
    fault: follower.fault,
    index: { behind: indexer.behind },
    tokens: tokens === null ? null : { behind: tokens.behind, fault: tokens.fault },
    ...statusOfParts(),
  }));

  app.setNotFoundHandler((_request, reply) => answer(reply, new SearchError("not_found", "there is nothing here")));
  app.setErrorHandler((error: FastifyError, _request: FastifyRequest, reply: FastifyReply) =>
    answer(reply, toSearchError(error)),
  );
  return app;

  function toSearchError(error: FastifyError): SearchError {
    if (error instanceof SearchError) return error;
    if (error instanceof LogDamagedError) return new SearchError("log_damaged", error.message);
    if (indexer.hasToRebuild(error)) return new SearchError("index_rebuilding", "the index is being made anew from the log");
    if (error.statusCode !== undefined && error.statusCode < 500) return new SearchError("query_invalid", error.message);
    log.error({ err: error }, "a search failed");
    return new SearchError("internal", "the search failed; the log of audit-out says why");
  }
}

function answer(reply: FastifyReply, error: SearchError): FastifyReply {
  return reply.code(error.status).send({ code: error.code, message: error.message });
}

/** Reads text from outside by a schema; `numbers` are the members that it has as digits. */
function reader<T extends TSchema>(schema: T, numbers: readonly string[] = []): (raw: unknown) => Static<T> {
  const validator = Compile(schema);
  return (raw) => {
    const members = Object.entries(raw as object).map(([name, text]: [string, unknown]) => [
      name,
      numbers.includes(name) ? numberOf(text) : text,
    ]);
    const value: unknown = Default(schema, Object.fromEntries(members));
    if (validator.Check(value)) return value;
    const [first] = validator.Errors(value);
    const what = first?.keyword === "boolean" || first?.keyword === "additionalProperties" ? "is not known" : first?.message;
    throw new SearchError("query_invalid", `${first?.instancePath || "/"} ${what ?? "is wrong"}`);
  };
}

function numberOf(text: unknown): unknown {
  return typeof text === "string" && /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : text;
}

async function filterOf(
  { from, to, holds, limit: _limit, cursor: _cursor, ...rest }: EventsQuery,
  tokens: TokenFeed | null,
): Promise<EventFilter> {
  const token = holds === undefined ? undefined : await tokenOf(holds, tokens);
  return {
    ...rest,
    ...(token === undefined ? {} : { token }),
    ...(from === undefined ? {} : { fromMs: timeOf(from) }),
    ...(to === undefined ? {} : { toMs: timeOf(to) }),
  };
}

/** @param holds `FIELD=VALUE` */
function tokenOf(holds: string, tokens: TokenFeed | null): Promise<string> {
  if (tokens === null) throw new SearchError("vault_unavailable", "there is no vault that looks values up");
  const at = holds.indexOf("=");
  return tokens.tokenOf(holds.slice(0, at), holds.slice(at + 1));
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new SearchError("query_invalid", `${text} is no instant`);
  return ms;
}

function placeOf(index: SearchIndex, cursor: string | undefined, filter: EventFilter): Position | null {
  if (cursor === undefined) return null;
  const place = decodeCursor(cursor, filter);
  if (place === null) throw new SearchError("cursor_invalid", "the cursor is none of a search with these very filters");
  if (index.numberOf(place) === null) throw new SearchError("index_rebuilding", "the index has not come as far as the cursor");
  return place;
}
