/** What became of the host over time: how its disks fill, which alerts held, and what a runbook says. */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { Instant } from "./http-common.ts";

export const DiskForecastReply = Type.Object(
  {
    disks: Type.Array(
      Type.Object(
        {
          /** What of the appliance lies there, as the page of the appliance names it. */
          holds: Type.String(),
          /** How much room goes in a day, bytes; negative where it comes back. Null where too little is known. */
          bytesPerDay: Nullable(Type.Number()),
          /** When new jobs would be refused, or else when nothing is left; null where not within five years. */
          fillsAt: Nullable(Instant),
          /** Over how many seconds that was seen. */
          seenS: Type.Integer({ minimum: 0 }),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type DiskForecastReply = Static<typeof DiskForecastReply>;

export const PastAlertsReply = Type.Object(
  {
    /** What is older is gone. */
    keptDays: Type.Integer({ minimum: 1 }),
    /** Beginnings and ends are told within so many seconds. */
    withinS: Type.Integer({ minimum: 1 }),
    /** Those that began last come first. */
    alerts: Type.Array(
      Type.Object(
        {
          alert: Type.String(),
          severity: Type.String(),
          /** What it was about: `part: vault`; empty where there is one of its kind. */
          about: Type.String(),
          from: Instant,
          /** Null while it holds. */
          to: Nullable(Instant),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type PastAlertsReply = Static<typeof PastAlertsReply>;

export const RunbookParam = Type.Object(
  { name: Type.String({ pattern: "^[a-z][a-z0-9-]{0,63}$" }) },
  closed,
);

export const RunbookReply = Type.Object(
  {
    name: Type.String(),
    /** Markdown. */
    text: Type.String(),
  },
  closed,
);
export type RunbookReply = Static<typeof RunbookReply>;
