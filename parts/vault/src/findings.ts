/** What an operator must know of personal values: whether they are sealed, and end in time. Pure. */
import { fault, type Finding, type FindingFacts, warning } from "@resontech/frame/finding";

export function vaultFindings({ vault, logOf }: FindingFacts): Finding[] {
  if (vault === null) return [];
  const { fault: its, holdsInDoubt, awaitsClock } = vault;
  if (holdsInDoubt)
    return [
      fault(
        "vault_holds",
        "the vault's database was put back and may lack legal holds: nothing is erased, neither by request nor by age",
        "set the holds again that the log has (resontech audit search --type privacy.hold), then: appliance privacy confirm-holds",
      ),
    ];
  if (its === null)
    return awaitsClock
      ? [
          warning(
            "vault_clock",
            "personal values that are past their retention are kept: nobody vouches for the clock",
            "look that time synchronization runs; without it, when the clock is right: appliance audit clock-is-right",
          ),
        ]
      : [];
  if (its.code === "spool_blocked")
    return [
      fault(
        "vault_blocked",
        `personal values are not sealed, and none can be erased: ${its.message}`,
        "look at the disk of the log. If that file is damaged for good: appliance stop, move it out of its folder, appliance start; what it opens is lost",
      ),
    ];
  return [
    fault(
      "vault_fails",
      `the vault's own work fails: ${its.message}`,
      `look at the end of ${logOf("vault")}`,
    ),
  ];
}
