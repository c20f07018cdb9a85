/**
 * `/run/resontech/<instance>/facts/appliance.json`: what the supervisor alone may look at and the coordinator's `GET /metrics` tells. Written
 * anew every {@link FACTS_EVERY_MS}; an old one says that nobody supervises.
 */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";

const Name = Type.String({ minLength: 1, maxLength: 128 });

export const FACTS_EVERY_MS = 15_000;

export const ApplianceFacts = Type.Object(
  {
    formatVersion: Type.Literal(1),
    /** Unix milliseconds. */
    at: Type.Integer({ minimum: 0 }),
    parts: Type.Array(
      Type.Object(
        {
          part: Name,
          isHealthy: Type.Boolean(),
          /** Somebody stopped it; it stays down until it is started. */
          isHeld: Type.Boolean(),
          restarts: Type.Integer({ minimum: 0 }),
        },
        closed,
      ),
      { maxItems: 64 },
    ),
    certificates: Type.Array(
      /** Below the root. `expiresAt`: Unix milliseconds. */
      Type.Object({ file: Type.String({ maxLength: 512 }), expiresAt: Type.Integer() }, closed),
      { maxItems: 256 },
    ),
    disks: Type.Array(
      Type.Object(
        {
          /** What of the appliance lies there: `database, audit log`. */
          holds: Type.String({ maxLength: 256 }),
          totalBytes: Type.Integer({ minimum: 0 }),
          freeBytes: Type.Integer({ minimum: 0 }),
          totalInodes: Type.Integer({ minimum: 0 }),
          freeInodes: Type.Integer({ minimum: 0 }),
          /** Where the audit log lies: with less free, new jobs are refused. */
          refusesBelowBytes: Type.Optional(Type.Integer({ minimum: 0 })),
        },
        closed,
      ),
      { maxItems: 16 },
    ),
    /** Where alerts go: whether the last try failed. Absent while nobody says. */
    targets: Type.Optional(
      Type.Array(Type.Object({ target: Name, isFailing: Type.Boolean() }, closed), {
        maxItems: 32,
      }),
    ),
    /** Of the backups that are scheduled; absent where none are. */
    backup: Type.Optional(
      Type.Object(
        {
          /** Of the last whole one, Unix milliseconds; null where there is none. */
          takenAt: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
          isOverdue: Type.Boolean(),
          /** How much of what was done last is not on the target, seconds; null while nobody follows. */
          behindS: Type.Union([Type.Integer({ minimum: 0 }), Type.Null()]),
        },
        closed,
      ),
    ),
  },
  closed,
);
export type ApplianceFacts = Static<typeof ApplianceFacts>;
