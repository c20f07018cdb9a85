/** `1 worker`, `2 workers` */
export function countOf(count: number, one: string, more = `${one}s`): string {
  return `${count} ${count === 1 ? one : more}`;
}
