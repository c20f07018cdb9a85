/** Reads what a person searches for: dates, ranges and known names become the API's own filters; what can match nothing is refused by name. Pure. */
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { DENIED_CODE, REFUSED_TYPES } from "@resontech/contracts/audit-refusals";
import { EVENT_PHASES, OBJECT_KINDS } from "@resontech/contracts/audit-event";
import { HOLDS_FIELDS } from "@resontech/contracts/http-audit";
import { CliError } from "../cli-error.ts";

/** Filters as the API takes them. */
export type Filters = Partial<
  Record<
    | "type"
    | "prod"
    | "phase"
    | "outcome"
    | "op"
    | "actor"
    | "kind"
    | "object"
    | "objectPrefix"
    | "objectsOf"
    | "below"
    | "holds"
    | "from"
    | "to",
    string
  >
>;

/** Addresses that a range may have: each is looked up by itself. */
const MAX_ADDRESSES = 256;

const FORMS: Readonly<
  Record<
    "prod" | "outcome" | "op" | "actor" | "object" | "objectPrefix" | "objectsOf" | "below",
    { pattern: RegExp; form: string }
  >
> = {
  prod: {
    pattern: /^[a-z0-9][a-z0-9-]{0,62}$/,
    form: "a process like coordinator-gate or s3-front",
  },
  outcome: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/,
    form: "ok, refused, or a code like quota_exceeded",
  },
  op: { pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, form: "a UUID in lower case" },
  actor: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
    form: "an id like u_4f…, k_7a… or a node's name",
  },
  object: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
    form: "an id like job-7f3a; a path is found by --holds object.id=bucket/key, a folder's objects by --below bucket/folder/",
  },
  objectsOf: { pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/, form: "a job's id like job-7f3a" },
  below: {
    pattern: /^[^/]+\/(?:.*\/)?$/,
    form: "a folder with its bucket and a slash at its end: bucket/jobs/study/",
  },
  objectPrefix: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
    form: "the beginning of an id and *, like job-7f*",
  },
};

/** What a person wrote them as. */
const FLAGS: Partial<Record<string, string>> = { objectsOf: "the job", objectPrefix: "--object" };

/**
 * One search becomes one query, or several whose answers belong together.
 * @throws CliError search_invalid, which says what is allowed
 */
export function queriesOf(asked: Filters): Filters[] {
  const filters = withPrefix(asked);
  const { type, phase, kind, outcome } = filters;
  if (type !== undefined) oneOf("--type", type, EVENT_TYPES, similarTo(type));
  if (phase !== undefined) oneOf("--phase", phase, EVENT_PHASES, EVENT_PHASES);
  if (kind !== undefined) oneOf("--kind", kind, OBJECT_KINDS, OBJECT_KINDS);
  for (const [name, { pattern, form }] of Object.entries(FORMS)) {
    const value = filters[name as keyof typeof FORMS];
    if (value !== undefined && !pattern.test(value))
      throw invalid(
        `${FLAGS[name] ?? `--${name}`} ${JSON.stringify(value)} can match no entry`,
        `It is ${form}.`,
      );
  }
  const { outcome: _outcome, ...rest } = filters;
  const timed: Filters = {
    ...(outcome === "refused" ? rest : filters),
    ...(filters.from === undefined ? {} : { from: instantOf("--from", filters.from, "begin") }),
    ...(filters.to === undefined ? {} : { to: instantOf("--to", filters.to, "end") }),
  };
  const held =
    filters.holds === undefined
      ? [timed]
      : valuesOf(filters.holds).map((holds) => ({ ...timed, holds }));
  return outcome === "refused" ? held.flatMap(refusals) : held;
}

/** `--object job-7f*` finds every id that begins so. */
function withPrefix({ object, ...rest }: Filters): Filters {
  if (object === undefined) return rest;
  return object.endsWith("*")
    ? { ...rest, objectPrefix: object.slice(0, -1) }
    : { ...rest, object };
}

function refusals(query: Filters): Filters[] {
  const denied =
    query.phase === undefined || query.phase === "denied" ? [{ ...query, phase: "denied" }] : [];
  const types = REFUSED_TYPES.filter((type) => query.type === undefined || query.type === type);
  // The object store's word for one key of several.
  return [
    ...denied,
    { ...query, outcome: DENIED_CODE },
    ...types.map((type) => ({ ...query, type })),
  ];
}

/** `2026-11-25` is that whole day in UTC; a time may have an offset. */
function instantOf(flag: string, text: string, edge: "begin" | "end"): string {
  const form =
    "Write a day like 2026-11-25, or a time like 2026-11-25T14:00:00Z or 2026-11-25T15:00:00+01:00.";
  if (/^\d{4}-\d{2}-\d{2}$/.test(text)) {
    const midnight = Date.parse(`${text}T00:00:00Z`);
    if (Number.isNaN(midnight) || !new Date(midnight).toISOString().startsWith(text))
      throw invalid(`${flag} ${text} is no day`, form);
    return new Date(edge === "begin" ? midnight : midnight + 86_400_000).toISOString();
  }
  const at = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,3})?)?(Z|[+-]\d{2}:\d{2})$/.test(text)
    ? Date.parse(text)
    : Number.NaN;
  if (Number.isNaN(at)) throw invalid(`${flag} ${JSON.stringify(text)} is no time`, form);
  return new Date(at).toISOString();
}

/** `src.addr=10.0.0.0/28` becomes sixteen values; every other one stands for itself. */
function valuesOf(holds: string): string[] {
  const at = holds.indexOf("=");
  const [field, value] = [holds.slice(0, Math.max(0, at)), holds.slice(at + 1)];
  if (!HOLDS_FIELDS.some((known) => known === field) || value === "")
    throw invalid(
      `--holds ${JSON.stringify(holds)} names no value that entries hold`,
      `Write FIELD=VALUE with one of ${HOLDS_FIELDS.join(", ")}.`,
    );
  if (field !== "src.addr") return [holds];
  const range = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?:\/(\d{1,2}))?$/.exec(value);
  if (range === null) {
    if (/^[0-9a-fA-F:.]+$/.test(value) && value.includes(":")) return [holds];
    throw invalid(
      `--holds src.addr=${value} is no address`,
      "Write 10.0.0.7, a range like 10.0.0.0/24, or an IPv6 address.",
    );
  }
  const octets = range.slice(1, 5).map(Number);
  const bits = Number(range[5] ?? 32);
  const count = 2 ** (32 - bits);
  if (octets.some((octet) => octet > 255) || bits > 32)
    throw invalid(
      `--holds src.addr=${value} is no address`,
      "Each part is 0 to 255, the length 0 to 32.",
    );
  if (count > MAX_ADDRESSES)
    throw invalid(
      `${value} has ${count} addresses`,
      `Search a range of at most ${MAX_ADDRESSES}, like 10.0.0.0/24.`,
    );
  const number = octets.reduce((sum, octet) => sum * 256 + octet, 0);
  const first = number - (number % count);
  return Array.from({ length: count }, (_, index) => `src.addr=${dotted(first + index)}`);
}

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join(".");
}

function oneOf(
  flag: string,
  value: string,
  known: readonly string[],
  shown: readonly string[],
): void {
  if (!known.includes(value))
    throw invalid(
      `${flag} ${JSON.stringify(value)}: there is no such one`,
      `There are ${shown.join(", ")}.`,
    );
}

/** Those of the same group, else the groups. */
function similarTo(type: string): string[] {
  const group = `${type.split(".")[0]}.`;
  const same = EVENT_TYPES.filter((each) => each.startsWith(group));
  return same.length > 0
    ? same
    : [...new Set(EVENT_TYPES.map((each) => `${each.split(".")[0]}.*`))];
}

function invalid(message: string, hint: string): CliError {
  return new CliError("search_invalid", message, hint);
}
