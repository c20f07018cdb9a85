/** Asks audit-out, which keeps the index of the log, on its Unix socket. Who may see what is the caller's to say; so is the record of the look. */
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type {
  AuditEventReply,
  AuditEventsReply,
  AuditIndexQuery,
} from "@resontech/contracts/http-audit";
import { ApiError } from "../api-error.ts";
import type { RowFilter } from "../db/row-filter.ts";
import type { ReadFilters } from "./decisions/read-filters.ts";

/** audit-out looks for a second at most. */
const TIMEOUT_MS = 5_000;
/** A page of the longest rows there can be. */
const MAX_REPLY_BYTES = 4 * 1024 ** 2;

/** Whose entries: of this subject, done by it or for it; without one, everybody's. */
export type AuditView = { sub?: string };

/** @throws TypeError for rows that the index of the log can't tell apart */
export function viewOf(rows: RowFilter): AuditView {
  if (rows === "all") return {};
  const [own, ...more] = rows;
  if (own?.userId === undefined || more.length > 0 || Object.keys(own).length > 1)
    throw new TypeError("the log is read whole, or by one subject");
  return { sub: own.userId };
}

/** Folders, `bucket/folder/`, and single objects, `bucket/key`. */
export type AuditedObjects = { folders: string[]; paths: string[] };

/** What an entry has to match. */
export type IndexSearch = ReadFilters;
export type SearchPage = Pick<AuditIndexQuery, "order" | "limit" | "cursor" | "from" | "to">;

type Answer = { status: number; body: unknown };

export class AuditSearch {
  readonly #socketPath: string;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /**
   * Entries that match the filters and one alternative at least.
   * @param objects those of the job that an alternative asks for; null: nobody knows them, and none of them is found
   * @throws ApiError `cursor_invalid`, `search_invalid`, `audit_search_unavailable`
   */
  async events(
    { filters, any, holdsAny }: IndexSearch,
    { order, limit, cursor, from, to }: SearchPage,
    view: AuditView,
    objects: AuditedObjects | null = null,
  ): Promise<AuditEventsReply> {
    const { folders, paths } = objects ?? { folders: [], paths: [] };
    const alternatives = any.map(({ objectsOf, ...one }) =>
      objectsOf === undefined ? one : { ...one, isOfObjects: true },
    );
    const query = { ...filters, order, limit, cursor, from, to, ...view };
    const asked = { query, any: alternatives, holdsAny, folders, paths };
    return (await this.#ask("/events", {}, asked)) as AuditEventsReply;
  }

  /** @throws ApiError `not_found` also for an entry outside the view, `audit_search_unavailable` */
  async event(index: number, shard: string | undefined, view: AuditView): Promise<AuditEventReply> {
    return (await this.#ask(`/events/${index}`, {
      ...(shard === undefined ? {} : { shard }),
      ...view,
    })) as AuditEventReply;
  }

  async #ask(
    path: string,
    query: Record<string, string | number>,
    sent: object | null = null,
  ): Promise<unknown> {
    const text = new URLSearchParams(
      Object.entries(query).map(([name, value]) => [name, String(value)]),
    ).toString();
    let answer: Answer;
    try {
      answer = await ask(this.#socketPath, `${path}?${text}`, sent);
    } catch (cause) {
      throw new ApiError("audit_search_unavailable", "the search of the audit log did not answer", {
        cause,
      });
    }
    const { status, body } = answer;
    if (status === 200) return body;
    const { code, message } = body as { code?: unknown; message?: unknown };
    if (code === "event_unknown") throw new ApiError("not_found", String(message));
    if (code === "cursor_invalid" || code === "search_invalid")
      throw new ApiError(code, String(message));
    throw new ApiError(
      "audit_search_unavailable",
      `the search of the audit log answered ${String(code)}`,
    );
  }
}

/** @throws what the socket says, and for an answer that is too long or no JSON */
async function ask(socketPath: string, path: string, body: object | null): Promise<Answer> {
  const sent =
    body === null ? {} : { method: "POST", headers: { "content-type": "application/json" } };
  const asked = request({ socketPath, path, ...sent, signal: AbortSignal.timeout(TIMEOUT_MS) });
  asked.end(body === null ? undefined : JSON.stringify(body));
  const [reply] = (await once(asked, "response")) as [IncomingMessage];
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    // Leaving the loop ends the connection.
    if (bytes > MAX_REPLY_BYTES)
      throw new RangeError(`an answer of more than ${MAX_REPLY_BYTES} bytes`);
    chunks.push(chunk);
  }
  return {
    status: reply.statusCode ?? 0,
    body: JSON.parse(Buffer.concat(chunks).toString("utf8")),
  };
}
