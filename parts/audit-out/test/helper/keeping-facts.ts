import type { OwnFact, Reporter } from "../../src/reporter.ts";

/** What would be told to auditd, and when it would have it. */
export function keepingFacts(
  facts: OwnFact[],
  onRecord: Promise<void> = Promise.resolve(),
): Reporter {
  const report = (fact: OwnFact): number => facts.push(fact);
  const say = async (fact: OwnFact): Promise<void> => {
    report(fact);
    await onRecord;
  };
  return { report, say } as unknown as Reporter;
}
