/** Which tests ask the pool of a run for a Keycloak: those that reach its client by imports. */
import type { Source } from "./sight/source-tree.ts";
import { tierOf } from "./tier.ts";

const CLIENT = "house/src/pool-client.ts";

type Imports = ReadonlyMap<string, Pick<Source, "imports">>;

/** Tests of the installed appliance use the appliance's own. */
export function leasingTests(
  tests: readonly string[],
  { sources }: { sources: Imports },
): Set<string> {
  return new Set(tests.filter((test) => tierOf(test) !== "acceptance" && reaches(test, sources)));
}

function reaches(test: string, sources: Imports): boolean {
  // A set goes on over what is added meanwhile.
  const seen = new Set([test]);
  for (const file of seen) for (const next of sources.get(file)?.imports ?? []) seen.add(next);
  return seen.has(CLIENT);
}
