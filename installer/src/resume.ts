import { resolve } from "node:path";
import { install, installVerified } from "./install.ts";
import { Journal } from "./journal.ts";
import { stagedFolder } from "./steps/current-release.ts";
import { openStagedBundle } from "./steps/staged-bundle.ts";
import { NotInstalledError } from "./uninstall.ts";
import { lastReturn } from "./upgrade/earlier-release.ts";
import { rollback } from "./upgrade/rollback.ts";

/**
 * Goes on with the install that the journal begins last; what was agreed to then needs no second answer.
 *
 * @param bundle where the medium is now; as a rule, where it was. Once the release is staged none is needed
 * @throws NotInstalledError
 */
export async function resume(root: string, bundle?: string): Promise<void> {
  const journal = new Journal(root);
  if (lastReturn(journal)?.isDone === false) return await rollback(root, { yes: true });
  const { lastBegin, doneSteps } = journal;
  if (lastBegin === null)
    throw new NotInstalledError(`${root} has no journal of an install that began`);
  const { request, release } = lastBegin;
  const mode = { yes: true, dryRun: false, allowOlder: true };
  const staged = doneSteps.has("stage") ? stagedFolder(root, release) : null;
  if (bundle === undefined && staged !== null)
    return await installVerified(request, openStagedBundle(request, staged), mode);
  await install(bundle === undefined ? request : { ...request, bundle: resolve(bundle) }, mode);
}
