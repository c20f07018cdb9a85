/** Which jobs stand beside one another, as the address has it: a link is a view that is kept and sent. Pure. */
export const MOST_COMPARED = 8;

export function comparedJobs(search: URLSearchParams): string[] {
  const named = (search.get("jobs") ?? "").split(",").filter((id) => id !== "");
  return [...new Set(named)].slice(0, MOST_COMPARED);
}

export function comparisonOf(jobs: readonly string[]): string {
  return `/compare?jobs=${jobs.map(encodeURIComponent).join(",")}`;
}

/** Jobs of one name are told apart by the end of their ids. */
export function labelsOf(jobs: readonly { id: string; name: string }[]): string[] {
  return jobs.map(({ id, name }) =>
    jobs.filter((other) => other.name === name).length === 1 ? name : `${name} (${id.slice(-6)})`,
  );
}
