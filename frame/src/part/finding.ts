/** What an operator must know of an appliance, and what to do about it: made by parts of themselves, and by the appliance of its host. Pure. */
import type { LogStatus } from "@resontech/contracts/audit-control";
import type { CoordinatorHealth } from "@resontech/contracts/coordinator-health";
import type { ToldFinding } from "@resontech/contracts/told-finding";
import type { VaultHealth } from "@resontech/contracts/vault-control";
import { toldSpan } from "./told-quantities.ts";

export type Finding = ToldFinding;

/** What findings speak of, in the order in which they are told. */
export const FINDING_THEMES = [
  "log",
  "parts",
  "work",
  "clock",
  "access",
  "nodes",
  "objects",
  "disks",
  "certificates",
  "identity",
  "backups",
  "people",
  "tools",
] as const;
export type FindingTheme = (typeof FINDING_THEMES)[number];

/** What of the realm is not as the release and the operator say. @property first kind and name of the first ones */
export type RealmFacts = { differences: number; first: string[] };

/** What parts have said of themselves. Null: nothing, and that is told of the part itself. */
export type FindingFacts = {
  nowMs: number;
  isHealthy: (part: string) => boolean;
  /** Where its log lies, as it is named to people. */
  logOf: (part: string) => string;
  health: CoordinatorHealth | null;
  /** Of the S3 front's event loop, milliseconds. */
  frontLagMs: number | null;
  /** The audit log is older than what was seen of it. */
  rolledBack: LogStatus["rolledBack"];
  vault: VaultHealth | null;
  /** Null where Keycloak's realm was not compared yet. */
  realm: RealmFacts | null;
  /** How far the coordinator's database is behind on the target of backups; null where nobody follows it yet. */
  followed: { target: string; behindS: number; failure: string | null } | null;
};

export type FindingsDeclaration = Partial<
  Record<FindingTheme, (facts: FindingFacts) => readonly Finding[]>
>;

/** Lists faults before warnings, and both by theme; of one theme, in the order of the declarations. */
export function evaluateFindings(
  declared: readonly (FindingsDeclaration | undefined)[],
  facts: FindingFacts,
): Finding[] {
  return faultsFirst(
    FINDING_THEMES.flatMap((theme) => declared.flatMap((of) => of?.[theme]?.(facts) ?? [])),
  );
}

/** Keeps the order otherwise. */
export function faultsFirst(findings: readonly Finding[]): Finding[] {
  return findings.toSorted(
    (a, b) => Number(a.severity === "warning") - Number(b.severity === "warning"),
  );
}

const LOOP_LAG_MS = 1_000;

export function fault(code: string, what: string, todo: string): Finding {
  return { severity: "fault", code, what, todo };
}

export function warning(code: string, what: string, todo: string): Finding {
  return { severity: "warning", code, what, todo };
}

/** Tells of an event loop that was late. @param host where it turns */
export function lagFindings(
  code: string,
  who: string,
  lagMs: number | null,
  host = "this host",
): Finding[] {
  if (lagMs === null || lagMs <= LOOP_LAG_MS) return [];
  const what = `${who} was ${toldSpan(lagMs)} late within the last minutes`;
  return [warning(code, what, `look for what else uses ${host}'s CPU or disk`)];
}
