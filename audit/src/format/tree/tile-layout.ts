/** Names and sizes of the files of a tiled log (C2SP tlog-tiles). */

export const TILE_WIDTH = 256;
export type TileLevel = number | "entries";
/** One file: the whole tile when `width` is 256, else the partial one of that width. */
export type TileName = { level: TileLevel; index: number; width: number };

/** `tile/<L>/<N>[.p/<W>]`, N in groups of three digits, all but the last with an `x`. */
export function tilePath({ level, index, width }: TileName): string {
  const groups: string[] = [];
  let rest = index;
  do {
    groups.unshift(String(rest % 1000).padStart(3, "0"));
    rest = Math.floor(rest / 1000);
  } while (rest > 0);
  const name = groups.map((group, at) => (at < groups.length - 1 ? `x${group}` : group)).join("/");
  return `tile/${level}/${name}${width === TILE_WIDTH ? "" : `.p/${width}`}`;
}

/** Hashes that level `level` has in a tree of `size` leaves. */
export function hashesAtLevel(size: number, level: number): number {
  return Math.floor(size / TILE_WIDTH ** level);
}

/**
 * Every file that a tree of `size` leaves consists of, in the order in which an export streams them: each bundle before its
 * tile, each full tile of a higher level after the last of its children, and the partial ones last, lowest level first.
 */
export function* filesOfTree(size: number): Generator<TileName> {
  const fullTiles = Math.floor(size / TILE_WIDTH);
  for (let index = 0; index < fullTiles; index++) {
    yield { level: "entries", index, width: TILE_WIDTH };
    yield { level: 0, index, width: TILE_WIDTH };
    let level = 1;
    let completed = index + 1;
    while (completed % TILE_WIDTH === 0) {
      completed /= TILE_WIDTH;
      yield { level, index: completed - 1, width: TILE_WIDTH };
      level += 1;
    }
  }
  const rest = size % TILE_WIDTH;
  if (rest > 0) yield { level: "entries", index: fullTiles, width: rest };
  for (let level = 0; hashesAtLevel(size, level) > 0; level++) {
    const hashes = hashesAtLevel(size, level);
    const width = hashes % TILE_WIDTH;
    if (width > 0) yield { level, index: Math.floor(hashes / TILE_WIDTH), width };
  }
}
