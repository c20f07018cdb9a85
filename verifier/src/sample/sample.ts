/** A sample that anybody can draw again: seed SHA-256(nonce ‖ root), without replacement by SHA-256(seed ‖ counter), over what the filter keeps. */
import { concat, fromHex, u64 } from "../input/bytes.ts";
import type { Leaf } from "../leaf/leaf.ts";
import type { Platform } from "../platform/platform.ts";
import type { Population } from "./population.ts";

const FILTERS = ["type", "phase", "prod", "actor", "object", "from", "to"] as const;
type FilterName = (typeof FILTERS)[number];
export type Filter = Partial<Record<FilterName, string>>;

export type Sample = { count: number; filter: Filter; filterText: string };

/** Before a value: all others. No id, type or phase begins so. */
const NOT = "!";

const MAX_SAMPLE = 10_000;

/** 2^48: as many values as six bytes have. */
const DRAWS = 2 ** 48;

/** The 32 bytes that the auditor gave for an export; null when the text is none. */
export function parseNonce(text: string): Uint8Array | null {
  return /^[0-9a-f]{64}$/.test(text) ? fromHex(text) : null;
}

/** What the auditor asks for, or why it can't be drawn. */
export function parseSample(
  countText: string,
  filterText: string,
  hasNonce: boolean,
): Sample | { fault: string } {
  const count = Number(countText);
  const filter = parseFilter(filterText);
  if (!Number.isInteger(count) || count < 1 || count > MAX_SAMPLE)
    return { fault: `--sample is 1 to ${MAX_SAMPLE}` };
  if (filter === null)
    return { fault: "--filter is type=…,phase=…,prod=…,actor=…,object=…,from=…,to=…, each once" };
  if (!hasNonce)
    return {
      fault: "--sample needs --nonce: whoever knows the seed beforehand chooses what is drawn",
    };
  return { count, filter, filterText };
}

/** `type=job.submit,from=2026-01-01T00:00:00.000Z`; null when it names what is none. */
export function parseFilter(text: string): Filter | null {
  const filter: Filter = {};
  for (const part of text.split(",").filter((one) => one !== "")) {
    const at = part.indexOf("=");
    const name = FILTERS.find((known) => known === part.slice(0, at));
    if (name === undefined || filter[name] !== undefined) return null;
    filter[name] = part.slice(at + 1);
  }
  return filter;
}

export function isKept({ type, phase, prod, actor, object, t_log }: Leaf, filter: Filter): boolean {
  const values: Record<Exclude<FilterName, "from" | "to">, string> = {
    type,
    phase,
    prod,
    actor: actor.sub,
    object: object.id,
  };
  const isMeant = Object.entries(values).every(([name, value]) => {
    const wanted = filter[name as FilterName];
    return wanted?.startsWith(NOT)
      ? wanted.slice(NOT.length) !== value
      : (wanted ?? value) === value;
  });
  return (
    isMeant &&
    (filter.from === undefined || t_log >= filter.from) &&
    (filter.to === undefined || t_log < filter.to)
  );
}

/** Entries of the population in the order in which they were drawn. */
export function draw(
  population: Population,
  count: number,
  nonce: Uint8Array,
  root: Uint8Array,
  { sha256 }: Pick<Platform, "sha256">,
): number[] {
  const seed = sha256(concat(nonce, root));
  const picked = new Set<number>();
  const wanted = Math.min(count, population.size);
  // Values beyond the last whole multiple would favour the first of the population.
  const limit = DRAWS - (DRAWS % Math.max(1, population.size));
  for (let counter = 0; picked.size < wanted; counter++) {
    const bytes = sha256(concat(seed, u64(counter)));
    const value = bytes.subarray(0, 6).reduce((sum, byte) => sum * 256 + byte, 0);
    if (value < limit) picked.add(value % population.size);
  }
  return population.at([...picked]);
}
