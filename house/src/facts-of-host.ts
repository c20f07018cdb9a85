/** What a supervisor writes of a host that is well: what metrics and the page of the appliance are made of. */
import type { ApplianceFacts } from "@resontech/contracts/appliance-facts";

type PartFact = ApplianceFacts["parts"][number];
type BackupFact = NonNullable<ApplianceFacts["backup"]>;

export function partFact(change: Partial<PartFact> & Pick<PartFact, "part">): PartFact {
  return {
    ...{ isHealthy: true, isHeld: false, restarts: 0, phase: "healthy", since: 1_000 },
    ...{ version: "1.0.0", memoryBytes: 64 * 1024 ** 2, lastExit: null, lines: [] },
    ...change,
  };
}

export function backupFact(change: Partial<BackupFact> = {}): BackupFact {
  return {
    ...{ takenAt: 1_000, isOverdue: false, behindS: 1, target: "/mnt/backups", failure: null },
    ...{ everyMinutes: 60, keep: 7, nextAt: 3_601_000 },
    ...change,
  };
}

/** Without parts, disks, certificates and backups, unless they are given. */
export function factsOfHost(change: Partial<ApplianceFacts> = {}): ApplianceFacts {
  return {
    ...{ formatVersion: 1, at: Date.now(), parts: [], certificates: [], disks: [], findings: [] },
    releases: [{ version: "0.2.0", isCurrent: true, since: 1_000 }],
    ...change,
  };
}
