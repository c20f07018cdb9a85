/**
 * Reads what a person searches for: the rules of every search of the log, whoever asks, by page, shell or API. What can match no entry is refused, with
 * what is allowed. Pure.
 */
import { EVENT_TYPES } from "@resontech/contracts/audit-catalogue";
import { EVENT_PHASES, OBJECT_KINDS } from "@resontech/contracts/audit-event";
import type { EntryAlternative } from "@resontech/contracts/audit-searches";
import {
  type AuditEventsQuery,
  type AuditIndexQuery,
  HOLDS_FIELDS,
} from "@resontech/contracts/http-audit";
import { addressesOf } from "./addresses-of.ts";
import { SearchRefused } from "./search-refused.ts";

/** What the index is asked, beside the period. */
export type IndexFilters = Omit<
  AuditIndexQuery,
  "from" | "to" | "order" | "limit" | "cursor" | "holds"
>;
export type ReadFilters = { filters: IndexFilters; any: EntryAlternative[]; holdsAny?: string[] };

/** Outcome under which people look for all that was refused. */
const REFUSED = "refused";
const ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

const FORMS = {
  prod: {
    pattern: /^[a-z][a-z0-9-]{0,62}$/,
    form: "a process like coordinator-gate or s3-front",
  },
  outcome: {
    pattern: /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/,
    form: "ok, refused, or a code like quota_exceeded",
  },
  op: {
    pattern: /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
    form: "a UUID in lower case",
  },
  actor: { pattern: ID, form: "an id like u_4f…, k_7a… or a node's name" },
  concerns: { pattern: ID, form: "a person's pseudonym like u_4f…" },
  approval: { pattern: ID, form: "an approval's id like a_7c…" },
  object: {
    pattern: ID,
    form: "an id like job-7f3a, or how it begins, job-7f*; a path is found by holds object.id=bucket/key, a folder's objects by below bucket/folder/",
  },
  objectPrefix: { pattern: ID, form: "the beginning of an id, like job-7f" },
  below: {
    pattern: /^[^/]+\/(?:.*\/)?$/,
    form: "a folder with its bucket and a slash at its end: bucket/jobs/study/",
  },
} as const;

type Asked = Omit<AuditEventsQuery, "from" | "to" | "order" | "limit" | "cursor">;

/** @throws SearchRefused */
export function readFilters({ objectsOf, holds, ...asked }: Asked): ReadFilters {
  const { type, phase, kind, outcome, ...plain } = withPrefix(asked);
  const formed = { ...plain, ...(outcome === undefined ? {} : { outcome }) };
  for (const [name, value] of Object.entries(formed) as [keyof typeof FORMS, string][])
    if (!FORMS[name].pattern.test(value))
      throw new SearchRefused(
        `${name} ${JSON.stringify(value)} can match no entry: it is ${FORMS[name].form}`,
      );
  const one: EntryAlternative = {
    ...(outcome === REFUSED ? { refused: true as const } : {}),
    ...(objectsOf === undefined ? {} : { objectsOf }),
  };
  return {
    filters: {
      ...plain,
      ...(type === undefined ? {} : { type: oneOf("type", type, EVENT_TYPES, similarTo(type)) }),
      ...(phase === undefined ? {} : { phase: oneOf("phase", phase, EVENT_PHASES) }),
      ...(kind === undefined ? {} : { kind: oneOf("kind", kind, OBJECT_KINDS) }),
      ...(outcome === undefined || outcome === REFUSED ? {} : { outcome }),
    },
    any: [one],
    ...(holds === undefined ? {} : { holdsAny: valuesOf(holds) }),
  };
}

/** `job-7f*` finds every id that begins so. */
function withPrefix<T extends { object?: string }>({ object, ...rest }: T) {
  if (object === undefined) return rest;
  return object.endsWith("*") && object.length > 1
    ? { ...rest, objectPrefix: object.slice(0, -1) }
    : { ...rest, object };
}

/** `src.addr=10.0.0.0/28` becomes sixteen values; every other one stands for itself. */
function valuesOf(holds: string): string[] {
  const at = holds.indexOf("=");
  const [field, value] = [holds.slice(0, Math.max(0, at)), holds.slice(at + 1)];
  if (!HOLDS_FIELDS.some((known) => known === field) || value === "")
    throw new SearchRefused(
      `holds ${JSON.stringify(field)} names no value that entries hold: write FIELD=VALUE with one of ${HOLDS_FIELDS.join(", ")}`,
    );
  return field === "src.addr"
    ? addressesOf(value).map((address) => `src.addr=${address}`)
    : [holds];
}

function oneOf<T extends string>(
  name: string,
  value: string,
  known: readonly T[],
  shown: readonly string[] = known,
): T {
  const found = known.find((each) => each === value);
  if (found === undefined)
    throw new SearchRefused(
      `${name} ${JSON.stringify(value)}: there is no such one; there are ${shown.join(", ")}`,
    );
  return found;
}

/** Those of the same group, else the groups. */
function similarTo(type: string): string[] {
  const group = `${type.split(".")[0]}.`;
  const same = EVENT_TYPES.filter((each) => each.startsWith(group));
  return same.length > 0
    ? same
    : [...new Set(EVENT_TYPES.map((each) => `${each.split(".")[0]}.*`))];
}
