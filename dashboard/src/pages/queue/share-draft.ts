/** What somebody writes into the form of a share, and what it would change. Pure. */
import { amountWords } from "@resontech/contracts/amount-words";
import type { ShareAmounts, ShareBody, StandingShareReply } from "@resontech/contracts/http-shares";

/** As it is written: by model, an empty text is none. */
export type ShareDraft = {
  guarantee: Record<string, string>;
  limit: Record<string, string>;
  weight: string;
  personRunning: string;
  personQueued: string;
  interactiveIdleMinutes: string;
};

const PERSON_LIMITS = [
  ["personRunning", "Workers a person"],
  ["personQueued", "Waiting jobs a person"],
  ["interactiveIdleMinutes", "Idle minutes of interactive jobs"],
] as const;

type Share = Pick<
  StandingShareReply,
  "guarantee" | "limit" | "weight" | (typeof PERSON_LIMITS)[number][0]
>;

export function shareDraftOf(share: Share): ShareDraft {
  const { guarantee, limit, weight } = share;
  const texts = (amounts: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(amounts).map(([model, count]) => [model, String(count)]));
  return {
    ...{ guarantee: texts(guarantee), limit: texts(limit), weight: String(weight ?? 1) },
    personRunning: String(share.personRunning ?? ""),
    personQueued: String(share.personQueued ?? ""),
    interactiveIdleMinutes: String(share.interactiveIdleMinutes ?? ""),
  };
}

/** What differs alone. */
export function draftedChange(share: Share, draft: ShareDraft): ShareBody {
  const guarantee = amountsOf(draft.guarantee, false);
  const limit = amountsOf(draft.limit, true);
  const weight = Number(draft.weight);
  const persons = PERSON_LIMITS.map(([name]) => {
    const most = draft[name].trim() === "" ? null : Number(draft[name]);
    return most === share[name] ? {} : { [name]: most };
  });
  return {
    ...(isSame(guarantee, share.guarantee) ? {} : { guarantee }),
    ...(isSame(limit, share.limit) ? {} : { limit }),
    ...(weight === share.weight ? {} : { weight }),
    ...Object.assign({}, ...persons),
  };
}

export type ShareDifference = { what: string; before: string; after: string };

export function differencesOf(share: Share, change: ShareBody): ShareDifference[] {
  const { guarantee, limit, weight } = change;
  const words = (amounts: ShareAmounts) => amountWords(amounts) ?? "none";
  return [
    ...(guarantee === undefined
      ? []
      : [
          {
            what: "Guarantee",
            before: words(share.guarantee),
            after: words(guarantee),
          },
        ]),
    ...(limit === undefined
      ? []
      : [{ what: "Limit", before: words(share.limit), after: words(limit) }]),
    ...(weight === undefined
      ? []
      : [{ what: "Weight", before: String(share.weight), after: String(weight) }]),
    ...PERSON_LIMITS.flatMap(([name, what]) => {
      const after = change[name];
      const none = name === "interactiveIdleMinutes" ? "60, or as above it" : "any number";
      const say = (most: number | null) => (most === null ? none : String(most));
      return after === undefined ? [] : [{ what, before: say(share[name]), after: say(after) }];
    }),
  ];
}

/** @param isZeroSaid none and zero differ: a limit of zero lets nothing run */
function amountsOf(texts: Readonly<Record<string, string>>, isZeroSaid: boolean): ShareAmounts {
  return Object.fromEntries(
    Object.entries(texts)
      .filter(([, text]) => text.trim() !== "")
      .map(([model, text]) => [model, Number(text)] as const)
      .filter(([, count]) => isZeroSaid || count > 0),
  );
}

function isSame(a: ShareAmounts, b: ShareAmounts): boolean {
  const models = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...models].every((model) => a[model] === b[model]);
}
