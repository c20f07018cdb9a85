/** Answers searches on a unix socket. Who may ask is settled by the socket's folder; what was asked is logged by the asker, before it hands the answer on. */
import { parseLeaf } from "@resontech/audit/format/event/leaf";
import { LogDamagedError } from "@resontech/audit/format/tree/log-reader";
import Fastify, {
  type FastifyBaseLogger,
  type FastifyError,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  LogController,
} from "fastify";
import { FOLDER_FIELD, PATH_FIELD } from "@resontech/contracts/vault-tokens";
import type { Logger } from "pino";
import { type Static, type TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { Default } from "typebox/value";
import type { LogFollower } from "../follow/log-follower.ts";
import type { Position } from "../follow/position.ts";
import { proveEvent } from "../proof/prove-event.ts";
import {
  type Alternative,
  EventParams,
  EventQuery,
  EventsQuery,
  MAX_OBJECTS_BYTES,
  ObjectsQuery,
  StatsQuery,
} from "./api-schemas.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import type { EventFilter } from "./event-filter.ts";
import type { Indexer } from "./indexer.ts";
import { isKnownOutcome } from "./known-outcomes.ts";
import type { Mark } from "./marks-of-event.ts";
import { searchEvents } from "./search-events.ts";
import { SearchError } from "./search-error.ts";
import type { SearchIndex } from "./search-index.ts";
import type { TokenFeed } from "./token-feed.ts";

const DAY_MS = 86_400_000;
/** More types than the catalogue has, for each day that may be asked for. */
const MAX_COUNTS = 100_000;
/** Questions to the vault, each with a connection of its own. */
const ASKED_AT_ONCE = 32;

type FieldValue = [field: string, value: string];
type Objects = { folders: readonly string[]; paths: readonly string[] };
const folder = (value: string): FieldValue => [FOLDER_FIELD, value];
const path = (value: string): FieldValue => [PATH_FIELD, value];

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
export function buildSearchApp({
  index,
  indexer,
  follower,
  tokens,
  statusOfParts,
  log,
}: SearchDeps): FastifyInstance {
  const logger: FastifyBaseLogger = log;
  const logController = new LogController({ disableRequestLogging: true });
  const app = Fastify({
    loggerInstance: logger,
    bodyLimit: 1_024,
    requestIdHeader: false,
    logController,
  });
  const readEvents = reader(EventsQuery, ["limit"]);
  const readObjects = reader(ObjectsQuery);
  const readEventParams = reader(EventParams, ["index"]);
  const readEventQuery = reader(EventQuery);
  const readStats = reader(StatsQuery, ["days"]);

  app.get("/events", async (request) => await found(readEvents(request.query), [{}]));

  app.post("/events", { bodyLimit: MAX_OBJECTS_BYTES }, async (request) => {
    const { query, any, holdsAny, folders, paths } = readObjects(request.body);
    return await found(query, any, { folders, paths }, holdsAny);
  });

  app.get("/events/:index", async (request) => {
    const { index } = readEventParams(request.params);
    const { shard: slug, sub } = readEventQuery(request.query);
    const shard =
      slug === undefined
        ? follower.shards.at(-1)
        : follower.shards.find((one) => one.slug === slug);
    const unknown = new SearchError(
      "event_unknown",
      `there is no entry ${index} in shard ${slug ?? "(the newest)"}`,
    );
    if (shard === undefined || index >= shard.tree.size) throw unknown;
    const { leaf, leafHash, proof } = await proveEvent(shard, index, (note) =>
      follower.openNote(shard, note),
    );
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
    shards: follower.shards.map(({ slug, origin, tree, fault }) => ({
      slug,
      origin,
      size: tree.size,
      fault,
    })),
    fault: follower.fault,
    index: { behind: indexer.behind },
    tokens: tokens === null ? null : { behind: tokens.behind, fault: tokens.fault },
    ...statusOfParts(),
  }));

  app.setNotFoundHandler((_request, reply) =>
    answer(reply, new SearchError("not_found", "there is nothing here")),
  );
  app.setErrorHandler((error: FastifyError, _request: FastifyRequest, reply: FastifyReply) =>
    answer(reply, toSearchError(error)),
  );
  return app;

  async function found(
    query: EventsQuery,
    any: readonly Alternative[],
    objects?: Objects,
    holdsAny?: readonly string[],
  ) {
    requireOutcome(index, query.outcome);
    const filters: EventFilter[] = [];
    for (const alternative of any)
      filters.push(...(await filtersOf(query, alternative, { objects, holdsAny }, tokens)));
    const [first, ...more] = filters;
    if (first === undefined) throw new SearchError("query_invalid", "/any is empty");
    const page = await searchEvents(
      index,
      [first, ...more],
      placeOf(index, query.cursor, filters),
      query.limit,
    );
    return {
      events: page.events.map(({ atMs, slug, ...event }) => ({
        ...{ shard: slug, ...event, t_log: new Date(atMs).toISOString() },
        source: index.sourceOf({ slug, index: event.index }),
        handle: event.kind === "object" ? index.handleOf({ slug, index: event.index }) : null,
      })),
      cursor: page.at === null ? null : encodeCursor(page.at, filters),
      more: page.more,
      behind:
        filters.every((filter) => filter.tokens === undefined) || tokens === null
          ? indexer.behind
          : Math.max(indexer.behind, tokens.behind),
      incomplete: follower.incomplete,
    };
  }

  function toSearchError(error: FastifyError): SearchError {
    if (error instanceof SearchError) return error;
    if (error instanceof LogDamagedError) return new SearchError("log_damaged", error.message);
    if (indexer.hasToRebuild(error))
      return new SearchError("index_rebuilding", "the index is being made anew from the log");
    if (error.statusCode !== undefined && error.statusCode < 500)
      return new SearchError("query_invalid", error.message);
    log.error({ err: error }, "a search failed");
    return new SearchError("internal", "the search failed; the log of audit-out says why");
  }
}

function answer(reply: FastifyReply, error: SearchError): FastifyReply {
  return reply.code(error.status).send({ code: error.code, message: error.message });
}

/** Reads text from outside by a schema; `numbers` are the members that it has as digits. */
function reader<T extends TSchema>(
  schema: T,
  numbers: readonly string[] = [],
): (raw: unknown) => Static<T> {
  const validator = Compile(schema);
  return (raw) => {
    const members = Object.entries(raw as object).map(([name, text]: [string, unknown]) => [
      name,
      numbers.includes(name) ? numberOf(text) : text,
    ]);
    const value: unknown = Default(schema, Object.fromEntries(members));
    if (validator.Check(value)) return value;
    const [first] = validator.Errors(value);
    const what =
      first?.keyword === "boolean" || first?.keyword === "additionalProperties"
        ? "is not known"
        : first?.message;
    throw new SearchError("query_invalid", `${first?.instancePath || "/"} ${what ?? "is wrong"}`);
  };
}

function numberOf(text: unknown): unknown {
  return typeof text === "string" && /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : text;
}

/** An outcome that no entry has, and no code of the product is, is a slip of the pen. */
function requireOutcome(index: SearchIndex, outcome: string | undefined): void {
  if (outcome === undefined || isKnownOutcome(outcome)) return;
  const { outcomes } = index;
  if (!outcomes.includes(outcome))
    throw new SearchError(
      "search_invalid",
      `no entry has the outcome ${outcome}: it is refused, or one of ${outcomes.join(", ")}`,
    );
}

/** One filter, or one for each type. */
async function filtersOf(
  { from, to, holds, below, concerns, limit: _limit, cursor: _cursor, ...rest }: EventsQuery,
  { types, ...alternative }: Alternative,
  { objects, holdsAny }: { objects: Objects | undefined; holdsAny: readonly string[] | undefined },
  tokens: TokenFeed | null,
): Promise<EventFilter[]> {
  const marks = marksIn(concerns, alternative);
  const [mark, ...others] = marks;
  const { type, actor } = rest;
  const isNone =
    others.length > 0 ||
    (alternative.actor !== undefined && actor !== undefined && actor !== alternative.actor);
  if (isNone)
    throw new SearchError("query_invalid", "two people or deployments are asked for at once");
  const isOfObjects = objects !== undefined && alternative.isOfObjects === true;
  if (isOfObjects && objects.folders.length === 0 && objects.paths.length === 0) return [];
  const lists = [
    ...(holds === undefined ? [] : [[fieldAndValue(holds)]]),
    ...(holdsAny === undefined ? [] : [holdsAny.map(fieldAndValue)]),
    ...(below === undefined ? [] : [[folder(below)]]),
    ...(isOfObjects ? [[...objects.folders.map(folder), ...objects.paths.map(path)]] : []),
  ];
  const filter: EventFilter = {
    ...rest,
    ...(alternative.actor === undefined ? {} : { actor: alternative.actor }),
    ...(alternative.onBehalfOf === undefined ? {} : { on_behalf_of: alternative.onBehalfOf }),
    ...(alternative.opsOf === undefined ? {} : { opsOf: alternative.opsOf }),
    ...(alternative.refused === undefined ? {} : { refused: "1" as const }),
    ...(alternative.byAdministrator === undefined ? {} : { administrator: "1" as const }),
    ...(mark === undefined ? {} : { mark }),
    ...(lists.length === 0 ? {} : { tokens: await tokensOf(lists, tokens) }),
    ...(from === undefined ? {} : { fromMs: timeOf(from) }),
    ...(to === undefined ? {} : { toMs: timeOf(to) }),
  };
  return types === undefined
    ? [filter]
    : types
        .filter((one) => type === undefined || one === type)
        .map((one) => ({ ...filter, type: one }));
}

function marksIn(concerns: string | undefined, alternative: Alternative): Mark[] {
  const people = new Set([concerns, alternative.concerns].filter((one) => one !== undefined));
  const { deployment } = alternative;
  return [
    ...[...people].map((id): Mark => `concerns ${id}`),
    ...(deployment === undefined ? [] : [`deployment ${deployment}` as const]),
  ];
}

/** @param holds `FIELD=VALUE` */
function fieldAndValue(holds: string): FieldValue {
  const at = holds.indexOf("=");
  return [holds.slice(0, at), holds.slice(at + 1)];
}

/** @throws SearchError `vault_unavailable` */
async function tokensOf(
  lists: readonly FieldValue[][],
  tokens: TokenFeed | null,
): Promise<string[][]> {
  if (tokens === null)
    throw new SearchError("vault_unavailable", "there is no vault that looks values up");
  const found: string[][] = [];
  for (const values of lists) {
    const list: string[] = [];
    for (let at = 0; at < values.length; at += ASKED_AT_ONCE)
      list.push(
        ...(await Promise.all(
          values.slice(at, at + ASKED_AT_ONCE).map((value) => tokens.tokenOf(...value)),
        )),
      );
    found.push(list);
  }
  return found;
}

function timeOf(text: string): number {
  const ms = Date.parse(text);
  if (Number.isNaN(ms)) throw new SearchError("query_invalid", `${text} is no instant`);
  return ms;
}

function placeOf(
  index: SearchIndex,
  cursor: string | undefined,
  filters: readonly EventFilter[],
): Position | null {
  if (cursor === undefined) return null;
  const place = decodeCursor(cursor, filters);
  if (place === null)
    throw new SearchError(
      "cursor_invalid",
      "the cursor is none of a search with these very filters",
    );
  if (index.numberOf(place) === null)
    throw new SearchError("index_rebuilding", "the index has not come as far as the cursor");
  return place;
}
