/** How curves are told apart: by dashes as well as by colour, so that twenty-four differ. Pure. */
import type { Curve } from "./aligned-of.ts";

export const HUES = 6;
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3]] as const;

/** @param at its place in the list */
export function hueOf({ hue }: Curve, at: number): number {
  return hue ?? at;
}

export function dashOf(hue: number): readonly number[] {
  return DASHES[Math.floor(hue / HUES) % DASHES.length]!;
}
