/** How a share is drawn: a bar for each model, with what it says in words. Pure. */
import type { SharesReply, StandingShareReply } from "@resontech/contracts/http-shares";

export type SharePart = "used" | "lent" | "ready" | "borrowed";
/** @property at from the start of the bar, as `size` in parts of its whole length */
export type ShareBar = {
  model: string;
  parts: { part: SharePart; at: number; size: number }[];
  /** Where the limit stands; null where there is none. */
  limit: number | null;
  words: string;
};

/** A use of less than this is nothing. */
const LEAST_USE = 0.05;

export function shareBars(share: StandingShareReply, fleet: SharesReply["fleet"]): ShareBar[] {
  const { guarantee, limit, held, recentUse } = share;
  const used = Object.entries(recentUse).flatMap(([model, of]) => (of < LEAST_USE ? [] : [model]));
  const models = new Set([...[guarantee, limit, held].flatMap(Object.keys), ...used]);
  return [...models].toSorted().map((model) => barOf(share, model, fleet));
}

function barOf(share: StandingShareReply, model: string, fleet: SharesReply["fleet"]): ShareBar {
  const of = (amounts: Readonly<Record<string, number>>) => amounts[model] ?? 0;
  const guaranteed = of(share.guarantee);
  const [used, lent, borrowed] = [of(share.guaranteeUsed), of(share.lent), of(share.borrowed)];
  // Of what stands above it a project holds what is neither its own nor borrowed.
  const ofParent = Math.max(0, of(share.held) - used - borrowed);
  const limit = share.limit[model];
  const there = fleet.find((one) => one.model === model)?.workers ?? 0;
  const whole = Math.max(1, there, guaranteed + ofParent + borrowed, limit ?? 0);
  const sizes: [SharePart, number][] = [
    ["used", used + ofParent],
    ["lent", lent],
    ["ready", Math.max(0, guaranteed - used - lent)],
    ["borrowed", borrowed],
  ];
  let at = 0;
  const parts = sizes.flatMap(([part, size]) => {
    const from = at;
    at += size;
    return size === 0 ? [] : [{ part, at: from / whole, size: size / whole }];
  });
  return {
    ...{ model, parts, limit: limit === undefined ? null : limit / whole },
    words: [
      `holds ${of(share.held)}`,
      ...(guaranteed === 0 ? [] : [`guaranteed ${guaranteed}, ${used} of them used`]),
      ...(lent === 0 ? [] : [`${lent} lent to others`]),
      ...(borrowed === 0 ? [] : [`${borrowed} borrowed`]),
      ...(limit === undefined ? [] : [`at most ${limit}`]),
      ...(of(share.recentUse) < LEAST_USE
        ? []
        : [`${of(share.recentUse).toFixed(1)} on average lately`]),
    ].join(" · "),
  };
}
