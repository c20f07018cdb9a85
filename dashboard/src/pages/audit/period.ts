/** The period that an answer is about, as it stands in the page's address: times as the API reads them. Pure. */
export type AskedPeriod = { from?: string; to?: string };

export const PRESETS: readonly (readonly [title: string, period: AskedPeriod])[] = [
  ["Today", { from: "today" }],
  ["7 days", { from: "7d" }],
  ["30 days", { from: "30d" }],
  ["All", {}],
];

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function isPreset(asked: AskedPeriod, preset: AskedPeriod): boolean {
  return asked.from === preset.from && asked.to === preset.to;
}

/** What a field for a day shows: a time in other words is none. */
export function dayOf(written: string | undefined): string {
  return written !== undefined && DAY.test(written) ? written : "";
}

/** The period with another day at one end. */
export function withDay(asked: AskedPeriod, edge: "from" | "to", day: string): AskedPeriod {
  const { from, to } = edge === "from" ? { ...asked, from: day } : { ...asked, to: day };
  return {
    ...(from === undefined || from === "" ? {} : { from }),
    ...(to === undefined || to === "" ? {} : { to }),
  };
}
