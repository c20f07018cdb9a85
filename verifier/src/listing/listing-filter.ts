/** Which entries of an export a person asks to see: what can match nothing is refused, with what is allowed. Pure. */
import { TYPES } from "../leaf/catalogue.ts";
import { instantMs } from "../leaf/instant.ts";
import type { Leaf } from "../leaf/leaf.ts";
import { isRefused, type Result } from "./refused.ts";

/** As they stand on the command line. */
export const LISTING_OPTIONS = [
  "type",
  "phase",
  "actor",
  "object",
  "value",
  "outcome",
  "from",
  "to",
] as const;
export type Asked = Partial<Record<(typeof LISTING_OPTIONS)[number], string>>;

export type ListingFilter = {
  /** Of the type's name: all of it, or its beginning. */
  isType: (type: string) => boolean;
  phase: string | null;
  actor: string | null;
  /** Of an id, or of a path that is opened; null for every one. */
  isObject: ((text: string) => boolean) | null;
  /** Of an opened value; null where none is asked for. */
  isValue: ((text: string) => boolean) | null;
  outcome: string | null;
  /** In the log's form; not before. */
  from: string | null;
  /** Before. */
  to: string | null;
};

const PHASES = ["requested", "completed", "failed", "denied", "fact", "observed"];
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;
const ID_OR_BEGINNING = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}\*?$/;
const CODE = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
const TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]{1,3})?)?(?:Z|[+-][0-9]{2}:[0-9]{2})$/;
const DAY_MS = 86_400_000;
const MAX_TEXT = 8_192;

export function parseListing(asked: Asked): ListingFilter | { fault: string } {
  const { type, phase, actor, object, value, outcome, from, to } = asked;
  const typeFault = type === undefined ? null : faultOfType(type);
  if (typeFault !== null) return { fault: typeFault };
  if (phase !== undefined && !PHASES.includes(phase))
    return wrong("phase", phase, PHASES.join(", "));
  if (actor !== undefined && !ID.test(actor))
    return wrong("actor", actor, "an id as entries have it, such as usr-7f or coordinator");
  if (
    object !== undefined &&
    !(object.includes("/") ? isText(object) : ID_OR_BEGINNING.test(object))
  )
    return wrong(
      "object",
      object,
      "an id such as job-7f, a path such as bucket/key, or the beginning of either with * behind it",
    );
  if (value !== undefined && !isText(value))
    return wrong(
      "value",
      value,
      `a text of 1 to ${MAX_TEXT} characters, or its beginning with * behind it`,
    );
  if (outcome !== undefined && !CODE.test(outcome))
    return wrong("outcome", outcome, "refused, ok, or a code such as quota_exceeded");
  const [begin, end] = [
    from === undefined ? null : instantOf(from, 0),
    to === undefined ? null : instantOf(to, DAY_MS),
  ];
  const times =
    "a day such as 2026-11-25 (UTC; as --to it counts whole), or a time such as 2026-11-25T14:00Z or 2026-11-25T15:00:00+01:00";
  if (from !== undefined && begin === null) return wrong("from", from, times);
  if (to !== undefined && end === null) return wrong("to", to, times);
  return {
    isType: type === undefined ? () => true : matcher(type),
    phase: phase ?? null,
    actor: actor ?? null,
    isObject: object === undefined ? null : matcher(object),
    isValue: value === undefined ? null : matcher(value),
    outcome: outcome ?? null,
    from: begin,
    to: end,
  };
}

/** Whether the filter keeps an entry, as far as its every part but outcome and values says. @param path the opened one of its object */
export function isAskedFor(
  { type, phase, actor, on_behalf_of, object, t_log }: Leaf,
  isPath: boolean,
  filter: ListingFilter,
): boolean {
  return (
    filter.isType(type) &&
    (filter.phase === null || filter.phase === phase) &&
    (filter.actor === null || filter.actor === actor.sub || filter.actor === on_behalf_of) &&
    (filter.isObject === null || isPath || filter.isObject(object.id)) &&
    (filter.from === null || t_log >= filter.from) &&
    (filter.to === null || t_log < filter.to)
  );
}

export function hasOutcome(entry: Result, { outcome }: ListingFilter): boolean {
  return (
    outcome === null ||
    entry.outcome?.code === outcome ||
    (outcome === "refused" && isRefused(entry))
  );
}

function faultOfType(type: string): string | null {
  const known = Object.keys(TYPES);
  if (known.some(matcher(type))) return null;
  const group = known.filter((one) => one.startsWith(`${type.split(".")[0]}.`));
  const shown =
    group.length > 0 ? group : [...new Set(known.map((one) => `${one.split(".")[0]}.*`))];
  return `--type ${JSON.stringify(type)}: there is no such type; there are ${shown.join(", ")}`;
}

/** `job.*` for all that begin so. */
function matcher(text: string): (value: string) => boolean {
  const beginning = text.slice(0, -1);
  return text.endsWith("*") ? (value) => value.startsWith(beginning) : (value) => value === text;
}

function isText(text: string): boolean {
  return text.length > 0 && text.length <= MAX_TEXT;
}

/** @param dayMs how far behind its midnight a day alone stands */
function instantOf(text: string, dayMs: number): string | null {
  const midnight = instantMs(`${text}T00:00:00.000Z`);
  if (!Number.isNaN(midnight)) return new Date(midnight + dayMs).toISOString();
  if (!TIME.test(text) || Number.isNaN(instantMs(`${text.slice(0, 10)}T00:00:00.000Z`)))
    return null;
  const ms = Date.parse(text);
  const time = Number.isNaN(ms) ? "" : new Date(ms).toISOString();
  return Number.isNaN(instantMs(time)) ? null : time;
}

function wrong(option: string, value: string, allowed: string): { fault: string } {
  return { fault: `--${option} ${JSON.stringify(value)} can match no entry; it is ${allowed}` };
}
