import { resolve } from "node:path";
import { install } from "./install.ts";
import { Journal } from "./journal.ts";
import { NotInstalledError } from "./uninstall.ts";

/**
 * Goes on with the install that the journal begins last; what was agreed to then needs no second answer.
 *
 * @param bundle where the medium is now; as a rule, where it was
 * @throws NotInstalledError
 */
export async function resume(root: string, bundle?: string): Promise<void> {
  const request = new Journal(root).lastBegin?.request;
  if (request === undefined)
    throw new NotInstalledError(`${root} has no journal of an install that began`);
  await install(bundle === undefined ? request : { ...request, bundle: resolve(bundle) }, {
    yes: true,
    dryRun: false,
  });
}
