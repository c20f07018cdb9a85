import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";
import type { HostReply } from "@resontech/contracts/http-appliance";

const instant = (ms: number): string => new Date(ms).toISOString();
const instantOrNull = (ms: number | null): string | null => (ms === null ? null : instant(ms));

/** What the supervisor wrote, in the form of the API. Pure. */
export function hostReply(facts: ApplianceFacts): HostReply {
  const { at, parts, certificates, disks, backup, releases, alerts } = facts;
  return {
    at: instant(at),
    parts: parts.map(({ isHealthy: _isHealthy, since, lines, ...part }) => ({
      ...{ ...part, since: instantOrNull(since) },
      lines: lines.map((line) => ({ ...line, at: instant(line.at) })),
    })),
    certificates: certificates.map(({ file, expiresAt }) => ({
      ...{ file, expiresAt: instant(expiresAt) },
    })),
    // Files that a disk can hold are for metrics.
    disks: disks.map(
      ({ totalInodes: _total, freeInodes: _free, refusesBelowBytes = null, ...disk }) => ({
        ...{ ...disk, refusesBelowBytes },
      }),
    ),
    backup:
      backup === undefined
        ? null
        : {
            ...backup,
            takenAt: instantOrNull(backup.takenAt),
            nextAt: instant(backup.nextAt),
          },
    releases: releases.map((release) => ({ ...release, since: instant(release.since) })),
    alerts: alerts?.map((alert) => ({ ...alert, since: instant(alert.since) })) ?? null,
  };
}
