/** A sample that anybody can draw again: seed SHA-256(nonce ‖ root), without replacement by SHA-256(seed ‖ counter), over what the filter keeps. */
import { concat, u64 } from "./bytes.ts";
import type { Leaf } from "./leaf.ts";
import type { Platform } from "./platform.ts";

const FILTERS = ["type", "phase", "prod", "actor", "object", "from", "to"] as const;
type FilterName = (typeof FILTERS)[number];
export type Filter = Partial<Record<FilterName, string>>;

/** 2^48: as many values as six bytes have. */
const DRAWS = 2 ** 48;

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
  const values: Record<Exclude<FilterName, "from" | "to">, string> = { type, phase, prod, actor: actor.sub, object: object.id };
  const isEqual = Object.entries(values).every(
    ([name, value]) => filter[name as FilterName] === undefined || filter[name as FilterName] === value,
  );
  return isEqual && (filter.from === undefined || t_log >= filter.from) && (filter.to === undefined || t_log < filter.to);
}

/** Indices of `population` in the order in which they were drawn. */
export function draw(
  population: readonly number[],
  count: number,
  nonce: Uint8Array,
  root: Uint8Array,
  { sha256 }: Pick<Platform, "sha256">,
): number[] {
  const seed = sha256(concat(nonce, root));
  const picked = new Set<number>();
  const wanted = Math.min(count, population.length);
  // Values beyond the last whole multiple would favour the first of the population.
  const limit = DRAWS - (DRAWS % Math.max(1, population.length));
  for (let counter = 0; picked.size < wanted; counter++) {
    const bytes = sha256(concat(seed, u64(counter)));
    const value = bytes.subarray(0, 6).reduce((sum, byte) => sum * 256 + byte, 0);
    if (value < limit) picked.add(population[value % population.length]!);
  }
  return [...picked];
}
