/** What an operator must know of the audit log. Pure. */
import { fault, type Finding, type FindingFacts } from "@resontech/frame/finding";

export function logFindings({ rolledBack }: FindingFacts): Finding[] {
  if (rolledBack === null) return [];
  const { origin, seenSize, by } = rolledBack;
  const unsaid: Partial<Record<string, string>> = {
    keys: `the keys of ${origin} are gone: another shard followed it, or it was put back on another host`,
    restore: `it was restored, and no witness says what it had seen of ${origin}`,
    opening: `an opening of another shard after ${origin} was broken off`,
  };
  const why = unsaid[by] ?? `${by} has seen ${seenSize} entries of ${origin}`;
  return [
    fault(
      "audit_rolled_back",
      `the audit log was put back to an older state (${why}): it takes nothing`,
      "let two people agree, then: appliance audit open-shard --approver A --approver B",
    ),
  ];
}
