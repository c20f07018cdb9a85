/** What to write where {@link workersByModel} finds nothing. */
export const WORKERS_BY_MODEL_HELP =
  "Write each model once with its number of workers, as `h100=4,cpu=2`, or `none`.";

/** Reads `h100=4,cpu=2`; `none` is nothing at all. Null for what is neither. Pure. */
export function workersByModel(text: string): Record<string, number> | null {
  const amounts: Record<string, number> = {};
  if (text === "none") return amounts;
  for (const one of text.split(",")) {
    const [, model, count] = /^([a-z0-9][a-z0-9._-]{0,63})=(\d{1,6})$/.exec(one.trim()) ?? [];
    if (model === undefined || model in amounts) return null;
    amounts[model] = Number(count);
  }
  return amounts;
}
