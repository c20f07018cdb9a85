/**
 * What audit-out asks the vault, on a socket of its own, so that entries are found by a value that they hold: tokens, never values. A token is
 * HMAC-SHA-256 under a key of the vault over `field ‖ 0 ‖ value`, its first 16 bytes in hex. A path has one more for each folder that it lies in.
 */
import { type Static, Type } from "typebox";
import { Count, Origin } from "./audit-event.ts";
import { closed } from "../closed.ts";

const Field = Type.String({ pattern: "^[a-z.-]{1,32}$" });
/** Values of one answer. */
export const MAX_TOKENS_PAGE = 1_000;

/** What holds an object's path, `bucket/folder/file`. */
export const PATH_FIELD = "object.id";
/** The field under which a folder is looked up, `bucket/folder/`: apart from that of paths, so that an object of that very name is another thing. */
export const FOLDER_FIELD = "object.id.folder";
/** Folders of one path that are looked up, the outermost first: a key of 1,024 bytes may lie in hundreds. */
export const MAX_FOLDERS = 16;

/** `b/jobs/x/a.csv` lies in `b/`, `b/jobs/` and `b/jobs/x/`. */
export function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (
    let at = path.indexOf("/");
    at >= 0 && folders.length < MAX_FOLDERS;
    at = path.indexOf("/", at + 1)
  )
    folders.push(path.slice(0, at + 1));
  return folders;
}

export const VaultTokensRequest = Type.Union([
  /** The token of a value that somebody looks for. */
  Type.Object(
    { verb: Type.Literal("token"), field: Field, value: Type.String({ maxLength: 8_192 }) },
    closed,
  ),
  /** Tokens of a shard's entries before `before`, behind a place, in order of index and field: {@link TokenLine}s of `limit` values, then {@link TokensEnd}. */
  Type.Object(
    {
      verb: Type.Literal("tokens"),
      origin: Origin,
      after: Type.Object(
        { index: Type.Integer({ minimum: -1 }), field: Type.String({ maxLength: 32 }) },
        closed,
      ),
      before: Count,
      limit: Type.Integer({ minimum: 1, maximum: MAX_TOKENS_PAGE }),
    },
    closed,
  ),
  /** What the next act after the `after`th destroyed: an {@link ErasedLine} each, then {@link ErasedEnd}. */
  Type.Object({ verb: Type.Literal("erased"), after: Count }, closed),
]);
export type VaultTokensRequest = Static<typeof VaultTokensRequest>;

/** A path has several: its own, and those of its folders. */
export type TokenLine = { index: number; field: string; token: string };
/**
 * `at` is the last place that was looked at; null when there was none: what can't be opened has no line. Tokens under another `key` are
 * worth nothing any more: whoever keeps them begins anew.
 */
export type TokensEnd = {
  end: { more: boolean; at: { index: number; field: string } | null; key: string };
};
export type ErasedLine = { origin: string; index: number; field: string };
/** `act` is null when nothing was destroyed since. In another `life` of the vault's database acts are numbered anew: whoever asks begins at 0. */
export type ErasedEnd = { end: { act: number | null; life: string } };
