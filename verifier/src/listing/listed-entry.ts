/** An entry as it is shown: to people as one line, to programs as one object. */
import { nameIn, type Detail } from "../leaf/detail.ts";
import { escapeText } from "../report/output.ts";

/** What an entry says, as its closed envelope has it. */
export type EntryEvent = {
  type: string;
  phase: string;
  t_log: string;
  prod: string;
  actor: { sub: string; kind: string };
  on_behalf_of?: string;
  object: { kind: string; id: string };
  outcome?: { code: string; status?: number };
  detail?: Detail;
};
/**
 * What the export says of a commitment. `value`: it opens it; null where it does and is one too many to be held. `erased`: marked as erased by that
 * entry. `opens: false`: a value is there and does not open it.
 */
export type OpenedField =
  | { value: string | null }
  | { erased: { index: number; origin: string } }
  | { opens: false };
export type ListedEntry = { entry: number; event: EntryEvent; values: Record<string, OpenedField> };

const COLUMNS: readonly [title: string, width: number][] = [
  ["entry", 8],
  ["time", 24],
  ["type", 26],
  ["result", 28],
  ["who", 26],
  ["object", 30],
  ["told by, values", 0],
];
/** Of a commitment, so that one is told from another. */
const SHOWN_DIGITS = 12;

export const LISTING_COLUMNS: readonly string[] = COLUMNS.map(([title]) => title);
export const LISTING_HEAD = COLUMNS.map(([title, width]) => title.padEnd(width))
  .join("  ")
  .trimEnd();

export function listedLine(listed: ListedEntry): string {
  const cells = listedCells(listed).map((cell, at) =>
    at === 0 ? cell.padStart(COLUMNS[0]![1]) : cell.padEnd(COLUMNS[at]![1]),
  );
  return escapeText(cells.join("  "));
}

/** One for each of {@link LISTING_COLUMNS}; what shows them has to escape them. */
export function listedCells({ entry, event, values }: ListedEntry): string[] {
  const { type, phase, t_log, prod, actor, on_behalf_of, object, outcome, detail = {} } = event;
  const { "object.id": path, ...others } = values;
  const claimed = nameIn(detail, "claimed");
  const who = `${actor.kind} ${actor.sub}${on_behalf_of === undefined ? "" : ` for ${on_behalf_of}`}`;
  return [
    String(entry),
    t_log,
    type,
    [phase, outcome?.code, outcome?.status].filter((part) => part !== undefined).join(" "),
    claimed === null ? who : `${who}, claims ${claimed}`,
    `${object.kind} ${object.kind === "object" ? pathText(object.id, path) : object.id}`,
    [
      prod,
      ...Object.entries(others).map(([field, opened]) => `${field}=${openedText(opened)}`),
    ].join("  "),
  ];
}

function pathText(id: string, path: OpenedField | undefined): string {
  const sealed = `sealed ${id.slice(0, SHOWN_DIGITS)}…`;
  return path === undefined
    ? sealed
    : "value" in path && path.value !== null
      ? JSON.stringify(path.value)
      : `${sealed} (${openedText(path)})`;
}

function openedText(opened: OpenedField): string {
  if ("erased" in opened)
    return `marked as erased by entry ${opened.erased.index} of ${opened.erased.origin}`;
  if ("opens" in opened) return "a value that does not open it";
  return opened.value === null ? "opened, too long to be shown" : JSON.stringify(opened.value);
}
