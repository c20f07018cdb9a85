/**
 * Where the next page begins: the place of the last entry that was looked at. Pages don't shift when the log grows, because places never do.
 * It is no secret and no permission: whoever makes one up sees nothing that a query would not have shown.
 */
import { createHash } from "node:crypto";
import { isSlug } from "@resontech/audit/format/shard/shard-plan";
import type { Position } from "../follow/position.ts";
import type { EventFilter } from "./event-filter.ts";

const MAX_CURSOR_CHARACTERS = 200;
const CURSOR = /^1:([0-9-]{4,9}):(0|[1-9][0-9]{0,15}):([0-9a-f]{16})$/;

/** `at` is the last entry of the page before. */
export function encodeCursor(at: Position, filters: readonly EventFilter[]): string {
  return Buffer.from(`1:${at.slug}:${at.index}:${digestOf(filters)}`, "latin1").toString(
    "base64url",
  );
}

/** Reads a cursor; null for what is none of a query with these very filters. */
export function decodeCursor(cursor: string, filters: readonly EventFilter[]): Position | null {
  if (cursor.length > MAX_CURSOR_CHARACTERS) return null;
  const [, slug = "", index = "", digest = ""] =
    CURSOR.exec(Buffer.from(cursor, "base64url").toString("latin1")) ?? [];
  if (!isSlug(slug) || digest !== digestOf(filters)) return null;
  return { slug, index: Number(index) };
}

function digestOf(filters: readonly EventFilter[]): string {
  const members = filters.map((filter) =>
    Object.entries(filter).sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  return createHash("sha256").update(JSON.stringify(members)).digest("hex").slice(0, 16);
}
