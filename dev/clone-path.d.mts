/** Why nothing can be built below this path; null where it can. */
export function refusalOfClone(path: string): string | null;
