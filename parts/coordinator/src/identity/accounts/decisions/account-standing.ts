/** What an account at Keycloak says of its person. Pure. */
import type { Source } from "../../decisions/group-names.ts";

/** `unknown`: the directory does not answer, and nobody is out for that. */
export type AccountStanding = "there" | "gone" | "disabled" | "unknown";

/**
 * Keycloak shows the people of a directory that does not answer as disabled. Each person of a directory that does is in the group of its name,
 * which Keycloak adds as it reads the person: a disabled account outside of it is one that could not be read.
 * @param account null where Keycloak has none @param groups paths of the account's groups
 */
export function standingOf(
  account: { enabled: boolean } | null,
  source: Pick<Source, "name" | "kind"> | null,
  groups: readonly string[],
): AccountStanding {
  if (account === null) return "gone";
  if (account.enabled) return "there";
  if (source?.kind === "storage" && !groups.includes(`/${source.name}`)) return "unknown";
  return "disabled";
}
