/**
 * Runs so many acts, a hundred at a time. Of thousands at once a busy machine acknowledges the last ones after the two seconds that a producer waits.
 * @param act gets its number, from 0
 */
export async function inHundreds<T>(
  count: number,
  act: (number: number) => Promise<T>,
): Promise<T[]> {
  const done: T[] = [];
  while (done.length < count) {
    const from = done.length;
    const length = Math.min(100, count - from);
    done.push(...(await Promise.all(Array.from({ length }, (_, at) => act(from + at)))));
  }
  return done;
}
