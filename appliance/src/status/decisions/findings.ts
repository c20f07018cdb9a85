/** What is wrong with an appliance, and what the operator should do about each: of its parts as they declare it, and of its host. Pure. */
import type { PartDeclaration } from "@resontech/frame/define-part";
import {
  type Finding,
  FINDING_THEMES,
  type FindingFacts,
  type FindingTheme,
} from "@resontech/frame/finding";
import type { BackupFacts } from "../../backup/read-backup-facts.ts";
import type { RuncVersion } from "../../runc/known-escapes.ts";
import type { PartStatus } from "../../supervisor/supervisor.ts";
import { backupFindings } from "./backup-findings.ts";
import { type CertificateFacts, certificateFinding } from "./certificate-finding.ts";
import { clockFindings } from "./clock-findings.ts";
import { type DiskFacts, diskFindings } from "./disk-findings.ts";
import { nodeFindings } from "./node-findings.ts";
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
  const said = { ...facts.of, isHealthy };
  const own = ownFindings(facts);
  const found = FINDING_THEMES.flatMap((theme) => [
    ...(own[theme] ?? []),
    ...declared.flatMap(({ findings }) => findings?.[theme]?.(said) ?? []),
  ]);
  return found.toSorted(
    (a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"),
  );
}

function ownFindings({
  parts,
  disks,
  certificates,
  backups,
  runc,
  of: { health, logOf },
}: StatusFacts): Partial<Record<FindingTheme, Finding[]>> {
  return {
    parts: parts.flatMap((part) => partFinding(part, logOf(part.name)) ?? []),
    clock: health === null ? [] : clockFindings(health.clockStep),
    nodes: health === null ? [] : nodeFindings(health),
    disks: disks.flatMap(diskFindings),
    certificates: certificates.flatMap((certificate) => certificateFinding(certificate) ?? []),
    backups: backups === null ? [] : backupFindings(backups),
    tools: runc === null ? [] : runcFindings(runc),
  };
}
