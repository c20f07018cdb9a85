/** Whose keys and pairs reach no data any more. Pure. */

/** @property duty `platform-admin` or `compliance-auditor` @property keys living platform keys @property pairs S3 key pairs that are good */
export type LosesData = { username: string; duty: string; keys: number; pairs: number };

/** Lines of the plan, for a person; none where nobody loses anything. */
export function describeLostData(people: readonly LosesData[]): string[] {
  if (people.length === 0) return [];
  return [
    "people: a duty binds its person by every credential from this release on. These lose data:",
    ...people.map(
      ({ username, duty, keys, pairs }) =>
        `  ${username} (${duty}): ${counted(keys, "platform key")}${duty === "compliance-auditor" ? ", which are refused" : ", which see no data"}; ${counted(pairs, "S3 key pair")}, removed`,
    ),
    "  who needs data gets another user before: appliance add-user NAME",
  ];
}

function counted(n: number, what: string): string {
  return `${n} ${what}${n === 1 ? "" : "s"}`;
}
