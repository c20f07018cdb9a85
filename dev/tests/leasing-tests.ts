/** Which tests ask the pool of a run for a Keycloak: those that reach its client by imports. */
import type { SourceTree } from "./source-tree.ts";
import { tierOf } from "./tier.ts";

const CLIENT = "house/src/pool-client.ts";

/** Tests of the installed appliance use the appliance's own. */
export function leasingTests(
  tests: readonly string[],
  { imports }: Pick<SourceTree, "imports">,
): Set<string> {
  return new Set(tests.filter((test) => tierOf(test) !== "acceptance" && reaches(test, imports)));
}

function reaches(test: string, imports: SourceTree["imports"]): boolean {
  // A set goes on over what is added meanwhile.
  const seen = new Set([test]);
  for (const file of seen) for (const next of imports.get(file) ?? []) seen.add(next);
  return seen.has(CLIENT);
}
