/**
 * `/run/resontech/<instance>/facts/appliance.json`: what the supervisor alone may look at, and the coordinator tells by `GET /metrics` and on the page of
 * the appliance. Written anew every {@link FACTS_EVERY_MS}; an old one says that nobody supervises.
 */
import { type Static, Type } from "typebox";
import { closed } from "../closed.ts";
import { ToldFinding } from "./told-finding.ts";
import { Nullable } from "../nullable.ts";

const Name = Type.String({ minLength: 1, maxLength: 128 });
/** Unix milliseconds. */
const At = Type.Integer({ minimum: 0 });
const Bytes = Type.Integer({ minimum: 0 });
const Version = Type.String({ maxLength: 128 });

/** A line of a part's log, as far as it is the same for everybody: its words, without names, addresses and numbers of requests. */
export const PartLine = Type.Object(
  {
    at: At,
    level: Type.Enum(["info", "warn", "error", "fatal"]),
    text: Type.String({ maxLength: 300 }),
  },
  closed,
);
export type PartLine = Static<typeof PartLine>;

export const PART_PHASES = [
  "idle",
  "starting",
  "healthy",
  "unhealthy",
  "stopping",
  "exited",
] as const;

/** An alert that holds. */
export const FiringAlert = Type.Object(
  {
    alert: Name,
    severity: Type.Enum(["critical", "warning"]),
    since: At,
    summary: Type.String({ maxLength: 1_024 }),
    todo: Type.String({ maxLength: 1_024 }),
    /** Name of the page that tells more. */
    runbook: Name,
  },
  closed,
);
export type FiringAlert = Static<typeof FiringAlert>;

/** A release that lies on this host. */
const InstalledRelease = Type.Object(
  {
    version: Version,
    isCurrent: Type.Boolean(),
    /** Of the one that runs: since when it does. Of another: when it was put here. */
    since: At,
  },
  closed,
);

export const FACTS_EVERY_MS = 15_000;

export const ApplianceFacts = Type.Object(
  {
    formatVersion: Type.Literal(1),
    at: At,
    parts: Type.Array(
      Type.Object(
        {
          part: Name,
          isHealthy: Type.Boolean(),
          /** Somebody stopped it; it stays down until it is started. */
          isHeld: Type.Boolean(),
          restarts: Type.Integer({ minimum: 0 }),
          phase: Type.Enum([...PART_PHASES]),
          /** Since when it is in this phase; null where it never started. */
          since: Nullable(At),
          version: Version,
          /** Resident, of its processes together; null where none runs. */
          memoryBytes: Nullable(Bytes),
          /** How it ended the last time; null where it did not. */
          lastExit: Nullable(Type.String({ maxLength: 256 })),
          /** The last ones of a program of ours, the oldest first; engines write what only root may read. */
          lines: Type.Array(PartLine, { maxItems: 8 }),
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
          takenAt: Nullable(At),
          isOverdue: Type.Boolean(),
          /** How much of what was done last is not on the target, seconds; null while nobody follows. */
          behindS: Nullable(Type.Integer({ minimum: 0 })),
          target: Type.String({ maxLength: 4_096 }),
          everyMinutes: Type.Integer({ minimum: 1 }),
          /** How many of the newest stay. */
          keep: Type.Integer({ minimum: 1 }),
          /** When the next is due. */
          nextAt: At,
          /** The code of why the last one failed; null where it did not. */
          failure: Nullable(Name),
        },
        closed,
      ),
    ),
    /** What is wrong with the host and its parts, the worst first; the coordinator adds what it knows of itself. */
    findings: Type.Array(ToldFinding, { maxItems: 128 }),
    /** The one that runs comes first, then those that are kept. */
    releases: Type.Array(InstalledRelease, { maxItems: 16 }),
    /** Alerts that hold now, as the notifier saw them last; absent while it does not say. */
    alerts: Type.Optional(Type.Array(FiringAlert, { maxItems: 128 })),
  },
  closed,
);
export type ApplianceFacts = Static<typeof ApplianceFacts>;
