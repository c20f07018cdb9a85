/** Something alive in a place, in seconds since boot. */
export type Life = { place: string; name: string; from: number; until: number };

/** One line for each that began in a place before another there was last seen. */
export function overlapsOf(lives: readonly Life[]): string[] {
  return [...Map.groupBy(lives, ({ place }) => place)].flatMap(([place, of]) => {
    let last: Life | undefined;
    return of
      .toSorted((a, b) => a.from - b.from)
      .flatMap((one) => {
        const before = last;
        // A long life may reach over several.
        if (before === undefined || one.until > before.until) last = one;
        return before !== undefined && one.from <= before.until
          ? [
              `${place}: ${one.name} began ${(before.until - one.from).toFixed(2)} s before ${before.name} was last seen`,
            ]
          : [];
      });
  });
}
