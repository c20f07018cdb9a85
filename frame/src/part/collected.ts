/** Adds the next value of an option of a command that is given again for each value. */
export function collected(one: string, all: string[]): string[] {
  return [...all, one];
}
