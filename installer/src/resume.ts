import { resolve } from "node:path";
import { install } from "./install.ts";
import { Journal } from "./journal.ts";
import { NotInstalledError } from "./uninstall.ts";
import { lastReturn } from "./upgrade/earlier-release.ts";
import { rollback } from "./upgrade/rollback.ts";

/**
 * Goes on with the install that the journal begins last; what was agreed to then needs no second answer.
 *
 * @param bundle where the medium is now; as a rule, where it was
 * @throws NotInstalledError
 */
export async function resume(root: string, bundle?: string): Promise<void> {
  const journal = new Journal(root);
  if (lastReturn(journal)?.isDone === false) return await rollback(root, { yes: true });
  const request = journal.lastBegin?.request;
  if (request === undefined)
    throw new NotInstalledError(`${root} has no journal of an install that began`);
  await install(bundle === undefined ? request : { ...request, bundle: resolve(bundle) }, {
    yes: true,
    dryRun: false,
    allowOlder: true,
  });
}
