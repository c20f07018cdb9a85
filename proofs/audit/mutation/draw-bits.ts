/** Which bits of an export are flipped. */
import { layoutOf, type Part, type Stretch } from "./layout.ts";

/** All bits of a part, or so many, each drawn once. Tiles count by level, full and partial ones apart. */
export type Wanted = Partial<Record<Exclude<Part, `tile ${string}`> | "tile", number | "all">>;
type Drawn = {
  bits: Float64Array;
  /** How many, by part. */
  counts: Record<string, number>;
};

/** @throws when the export has nothing of a part that is wanted */
export function drawBits(tar: Uint8Array, wanted: Wanted, random: () => number): Drawn {
  const parts = Map.groupBy(layoutOf(tar), ({ part }) => part);
  const bits: number[] = [];
  const counts: Drawn["counts"] = {};
  const kinds = new Set<string>();
  for (const [part, stretches] of parts) {
    const kind = part.startsWith("tile ") ? "tile" : (part as keyof Wanted);
    const count = wanted[kind];
    kinds.add(kind);
    if (count === undefined) continue;
    const drawn = bitsOf(stretches, count, random);
    for (const bit of drawn) bits.push(bit);
    counts[part] = drawn.length;
  }
  const missing = Object.keys(wanted).filter((kind) => !kinds.has(kind));
  if (missing.length > 0) throw new Error(`the export has no ${missing.join(", ")}`);
  return { bits: Float64Array.from(bits), counts };
}

function bitsOf(
  stretches: readonly Stretch[],
  count: number | "all",
  random: () => number,
): number[] {
  const total = stretches.reduce((sum, { from, to }) => sum + (to - from) * 8, 0);
  if (count === "all" || count >= total)
    return stretches.flatMap(({ from, to }) =>
      Array.from({ length: (to - from) * 8 }, (_, at) => from * 8 + at),
    );
  const places = new Set<number>();
  while (places.size < count) places.add(Math.floor(random() * total));
  const bits: number[] = [];
  let before = 0;
  let stretch = 0;
  for (const place of [...places].sort((a, b) => a - b)) {
    for (; place >= before + lengthOf(stretches[stretch]!); stretch++)
      before += lengthOf(stretches[stretch]!);
    bits.push(stretches[stretch]!.from * 8 + place - before);
  }
  return bits;
}

/** In bits. */
function lengthOf({ from, to }: Stretch): number {
  return (to - from) * 8;
}
