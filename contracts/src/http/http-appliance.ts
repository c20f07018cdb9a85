/** `/api/appliance`: how the appliance does, as a platform administrator sees it. Of jobs their states alone. */
import { type Static, Type } from "typebox";
import { PART_PHASES } from "../config/appliance-facts.ts";
import { ToldFinding } from "../config/told-finding.ts";
import { closed } from "../closed.ts";
import { Nullable } from "../nullable.ts";
import { Instant } from "./http-common.ts";
import { NodeReply } from "./http-nodes.ts";

const Count = Type.Integer({ minimum: 0 });

/** What the supervisor of the host wrote last, at most 15 seconds old while somebody supervises. Instants for people, sizes in bytes. */
export const HostReply = Type.Object(
  {
    at: Instant,
    parts: Type.Array(
      Type.Object(
        {
          part: Type.String(),
          phase: Type.Enum([...PART_PHASES]),
          /** Somebody stopped it; it stays down until it is started. */
          isHeld: Type.Boolean(),
          restarts: Count,
          since: Nullable(Instant),
          version: Type.String(),
          /** Resident, of its processes together; null where none runs. */
          memoryBytes: Nullable(Count),
          lastExit: Nullable(Type.String()),
          lines: Type.Array(
            Type.Object({ at: Instant, level: Type.String(), text: Type.String() }, closed),
          ),
        },
        closed,
      ),
    ),
    certificates: Type.Array(Type.Object({ file: Type.String(), expiresAt: Instant }, closed)),
    disks: Type.Array(
      Type.Object(
        {
          /** What of the appliance lies there: `database, audit log`. */
          holds: Type.String(),
          totalBytes: Count,
          freeBytes: Count,
          /** Where the audit log lies: with less free, new jobs are refused. */
          refusesBelowBytes: Nullable(Count),
        },
        closed,
      ),
    ),
    /** Of the backups that are scheduled; null where none are. */
    backup: Nullable(
      Type.Object(
        {
          target: Type.String(),
          everyMinutes: Count,
          keep: Count,
          takenAt: Nullable(Instant),
          nextAt: Instant,
          isOverdue: Type.Boolean(),
          failure: Nullable(Type.String()),
          /** How much of what was done last is not on the target, seconds; null while nobody follows. */
          behindS: Nullable(Count),
        },
        closed,
      ),
    ),
    /** The one that runs comes first, then those that are kept. */
    releases: Type.Array(
      Type.Object({ version: Type.String(), isCurrent: Type.Boolean(), since: Instant }, closed),
    ),
    /** Alerts that hold now; null while the notifier does not say. */
    alerts: Nullable(
      Type.Array(
        Type.Object(
          {
            alert: Type.String(),
            severity: Type.Enum(["critical", "warning"]),
            since: Instant,
            summary: Type.String(),
            todo: Type.String(),
            runbook: Type.String(),
          },
          closed,
        ),
      ),
    ),
  },
  closed,
);
export type HostReply = Static<typeof HostReply>;

export const ApplianceReply = Type.Object(
  {
    version: Type.String(),
    policySet: Type.String(),
    jobs: Type.Record(Type.String(), Count),
    bus: Type.Enum(["up", "down"]),
    audit: Type.Object(
      {
        state: Type.Enum(["ok", "away", "draining", "halted"]),
        /** Records that the log has not taken yet. */
        waiting: Count,
        oldestWaitMs: Count,
      },
      closed,
    ),
    database: Type.Enum(["ok", "full", "failing"]),
    storage: Type.Enum(["ok", "unavailable"]),
    loopLagMs: Type.Number(),
    /** Why nobody is declared dead although somebody is silent. */
    brake: Nullable(Type.String()),
    plannedStopUntil: Nullable(Instant),
    /** Somebody could approve what needs a second person. */
    hasApprover: Type.Boolean(),
    endingKeys: Type.Array(
      Type.Object({ key: Type.String(), username: Type.String(), expiresAt: Instant }, closed),
    ),
    /** Administrators whom the host's root made and nobody has acknowledged. */
    restored: Type.Array(
      Type.Object({ userId: Type.String(), username: Type.String(), restoredAt: Instant }, closed),
    ),
    /** Service accounts that nobody answers for: each ends seven days after that unless a lead adopts it. */
    orphanedAccounts: Type.Array(
      Type.Object({ name: Type.String(), project: Type.String(), orphanedAt: Instant }, closed),
    ),
    /** Groups of a directory that would make an auditor a member of a project, and give nothing. */
    givenNothing: Type.Array(
      Type.Object(
        { username: Type.String(), group: Type.String(), project: Type.String() },
        closed,
      ),
    ),
    nodes: Type.Array(NodeReply),
    /** What is wrong, the worst first, with what to do: what the coordinator knows now, and what the supervisor wrote last. */
    findings: Type.Array(ToldFinding),
    /** Null where no supervisor wrote. */
    host: Nullable(HostReply),
  },
  closed,
);
export type ApplianceReply = Static<typeof ApplianceReply>;
