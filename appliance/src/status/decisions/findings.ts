/** What is wrong with an appliance, and what the operator should do about each: of its parts as they declare it, and of its host. Pure. */
import type { PartDeclaration } from "@resontech/frame/define-part";
import {
  evaluateFindings,
  type Finding,
  type FindingFacts,
  type FindingsDeclaration,
} from "@resontech/frame/finding";
import type { BackupFacts } from "../../backup/read-backup-facts.ts";
import type { RuncVersion } from "../../runc/known-escapes.ts";
import type { PartStatus } from "../../supervisor/supervisor.ts";
import { backupFindings } from "./backup-findings.ts";
import { type CertificateFacts, certificateFinding } from "./certificate-finding.ts";
import { type DiskFacts, diskFindings } from "./disk-findings.ts";
import { partFinding } from "./part-finding.ts";
import { runcFindings } from "./runc-findings.ts";

export type StatusFacts = {
  parts: readonly PartStatus[];
  disks: readonly DiskFacts[];
  certificates: readonly CertificateFacts[];
  /** Null where no backups are scheduled. */
  backups: BackupFacts | null;
  /** Of this host; null when it can't be asked. */
  runc: RuncVersion | null;
  /** What parts have said of themselves. */
  of: Omit<FindingFacts, "isHealthy">;
};

/** Lists faults before warnings, and both by theme. Of one theme, findings of the appliance stand before those of its parts. */
export function findingsOf(facts: StatusFacts, declared: readonly PartDeclaration[]): Finding[] {
  const isHealthy = (name: string): boolean =>
    facts.parts.some((part) => part.name === name && part.phase === "healthy");
  return evaluateFindings([ofHost(facts), ...declared.map(({ findings }) => findings)], {
    ...facts.of,
    isHealthy,
  });
}

/** What no part can say of itself. */
function ofHost({ parts, disks, certificates, backups, runc }: StatusFacts): FindingsDeclaration {
  return {
    parts: ({ logOf }) => parts.flatMap((part) => partFinding(part, logOf(part.name)) ?? []),
    disks: () => disks.flatMap(diskFindings),
    certificates: () =>
      certificates.flatMap((certificate) => certificateFinding(certificate) ?? []),
    backups: () => (backups === null ? [] : backupFindings(backups)),
    tools: () => (runc === null ? [] : runcFindings(runc)),
  };
}
