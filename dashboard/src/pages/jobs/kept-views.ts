/** Filters of the jobs page that a person has named, kept in this browser. What lies there is of an older release, or somebody else's. */
const NAME = "rt-job-views";
const MOST = 20;
const MAX_NAME = 40;

/** @property search as it stands in the address, without `?` */
export type View = { name: string; search: string };

export function readViews(): View[] {
  let kept: unknown;
  try {
    kept = JSON.parse(localStorage.getItem(NAME) ?? "[]");
  } catch {
    return [];
  }
  return Array.isArray(kept) ? kept.filter(isView).slice(0, MOST) : [];
}

/** A name stands for one view: the new one takes the place of the old. */
export function withView(views: readonly View[], view: View): View[] {
  const name = view.name.trim().slice(0, MAX_NAME);
  if (name === "") return [...views];
  return [...views.filter((one) => one.name !== name), { ...view, name }].slice(-MOST);
}

export function writeViews(views: readonly View[]): void {
  localStorage.setItem(NAME, JSON.stringify(views));
}

function isView(kept: unknown): kept is View {
  const { name, search } = (kept ?? {}) as Partial<View>;
  return typeof name === "string" && typeof search === "string" && name.length <= MAX_NAME;
}
