/** What the catalogue says of one type of event, and the three forms that nearly all have. */
import { type TSchema, Type } from "typebox";
import { Code, Count, type EventPhase, Instant, type ObjectKind } from "../audit-event.ts";
import { closed } from "../../closed.ts";

export const NoDetail = Type.Object({}, closed);

/** One `requested` before the effect, one outcome after it. */
const OPERATION = ["requested", "completed", "failed", "denied"] as const satisfies EventPhase[];
/** One record, durable before the answer, or written with the transition it tells of. */
export const FACT = ["fact"] as const satisfies EventPhase[];
export const OPERATION_OR_FACT = [...OPERATION, ...FACT] as const;

const MINUTE = 60_000;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

export type CatalogueEntry = {
  phases: readonly EventPhase[];
  object: ObjectKind;
  /** One line for the auditor. */
  meaning: string;
  detail: TSchema;
  /** Milliseconds after which an operation without outcome is a finding and no longer merely open. */
  maxOpenMs: number;
  /** `false`: new operations of this type are refused while the log's disk is nearly full. */
  whileDraining: boolean;
};

export const operation = <D extends TSchema>(
  object: ObjectKind,
  meaning: string,
  detail: D,
  rest?: { maxOpenMs?: number; whileDraining?: boolean },
) =>
  ({
    phases: OPERATION,
    object,
    meaning,
    detail,
    maxOpenMs: rest?.maxOpenMs ?? 5 * MINUTE,
    whileDraining: rest?.whileDraining ?? true,
  }) as const;

export const fact = <D extends TSchema>(object: ObjectKind, meaning: string, detail: D) =>
  ({ phases: FACT, object, meaning, detail, maxOpenMs: 0, whileDraining: true }) as const;

/** What happened elsewhere and was found afterwards: `source` says where, `lag_ms` how long after. */
export const observed = <D extends Record<string, TSchema>>(
  object: ObjectKind,
  meaning: string,
  detail: D,
) =>
  ({
    phases: ["observed"],
    object,
    meaning,
    detail: Type.Object({ source: Code, at: Instant, lag_ms: Count, ...detail }, closed),
    maxOpenMs: 0,
    whileDraining: true,
  }) as const;
