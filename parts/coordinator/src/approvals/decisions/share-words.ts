/** A share in words, as requests tell it. Pure. */
import { amountWords } from "@resontech/contracts/amount-words";
import type { ShareAmounts, ShareBody } from "@resontech/contracts/http-shares";

/** What a change says and no more: "guarantee 2 cpu, no limit, weight 3". */
export function shareWords({
  guarantee,
  limit,
  weight,
  personRunning,
  personQueued,
  interactiveIdleMinutes,
}: ShareBody): string {
  return [
    ...(guarantee === undefined ? [] : [named("guarantee", guarantee)]),
    ...(limit === undefined ? [] : [named("limit", limit)]),
    ...(weight === undefined ? [] : [`weight ${weight}`]),
    ...(personRunning === undefined
      ? []
      : [`${personRunning ?? "any number of"} workers a person`]),
    ...(personQueued === undefined
      ? []
      : [`${personQueued ?? "any number of"} waiting jobs a person`]),
    ...(interactiveIdleMinutes === undefined
      ? []
      : [`interactive jobs idle for ${interactiveIdleMinutes ?? 60} min`]),
  ].join(", ");
}

function named(what: string, amounts: ShareAmounts): string {
  const words = amountWords(amounts);
  return words === null ? `no ${what}` : `${what} ${words}`;
}
