/** `/api/shares`: who is guaranteed how many workers, may hold how many at most, and who holds, lends and borrows now. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";

const MAX_WORKERS = 1_000_000;
/** What changes stands in one entry of the log. */
const MOST_MODELS = 16;
const Model = Type.String({ pattern: "^[a-z0-9][a-z0-9._-]{0,63}$" });
/** Workers by model, as `GET /api/gpu-catalog` names it, or `cpu`. */
export const ShareAmounts = Type.Record(Model, Type.Integer({ minimum: 0, maximum: MAX_WORKERS }), {
  maxProperties: MOST_MODELS,
  additionalProperties: false,
});
export type ShareAmounts = Static<typeof ShareAmounts>;
export const ShareWeight = Type.Number({ minimum: 0.01, maximum: 1_000 });

export const IdleMinutes = Nullable(
  Type.Integer({ minimum: 1, maximum: 43_200, description: "Null: an hour" }),
);
export const PersonLimit = Nullable(
  Type.Integer({ minimum: 1, maximum: MAX_WORKERS, description: "Null: any number" }),
);
/** What is left out stays; an empty guarantee or limit takes it away, and so does a null. */
export const shareChange = {
  guarantee: Type.Optional(ShareAmounts),
  limit: Type.Optional(ShareAmounts),
  weight: Type.Optional(ShareWeight),
  /** The most workers that one person may have below the share at a time. */
  personRunning: Type.Optional(PersonLimit),
  /** The most jobs of one person that may wait below the share. */
  personQueued: Type.Optional(PersonLimit),
  /** An interactive job that uses nothing for so long is warned, and ended ten minutes later. */
  interactiveIdleMinutes: Type.Optional(IdleMinutes),
};
export const ShareBody = Type.Object(shareChange, closed);
export type ShareBody = Static<typeof ShareBody>;

/** Of as many models as there are; a share is limited in what may be set alone. */
const Counts = Type.Record(Type.String(), Type.Integer({ minimum: 0 }));

/** One share as it stands; of a kind `others` are all that the caller does not see below one parent, summed and without names. */
export const StandingShareReply = Type.Object(
  {
    id: Nullable(Type.String()),
    kind: Type.Enum(["organisation", "team", "project", "others"]),
    name: Nullable(Type.String()),
    parent: Nullable(Type.String()),
    guarantee: Counts,
    limit: Counts,
    weight: Nullable(ShareWeight),
    personRunning: PersonLimit,
    personQueued: PersonLimit,
    interactiveIdleMinutes: IdleMinutes,
    /** Workers in its hands now, by model. */
    held: Counts,
    /** Of the guarantee: what it holds of it. */
    guaranteeUsed: Counts,
    /** Of the guarantee: what others would have to give back if the share asked for all of it now. */
    lent: Counts,
    /** Held beyond every guarantee on the way up. */
    borrowed: Counts,
    /** Held on average over the last days; each hour counts half of the one that came a day later. */
    recentUse: Type.Record(Type.String(), Type.Number({ minimum: 0 })),
    /** Jobs that wait. */
    queued: Type.Integer({ minimum: 0 }),
  },
  closed,
);
export type StandingShareReply = Static<typeof StandingShareReply>;

export const SharesReply = Type.Object(
  {
    /** False: nobody is guaranteed or limited anything, and all is lent in order of arrival. */
    isSet: Type.Boolean(),
    fleet: Type.Array(
      Type.Object({ model: Type.String(), workers: Type.Integer(), free: Type.Integer() }, closed),
    ),
    /** Those above before those below. */
    shares: Type.Array(StandingShareReply),
  },
  closed,
);
export type SharesReply = Static<typeof SharesReply>;
