import type { Journal } from "../journal.ts";
import { say } from "../say.ts";
import { applianceCommand } from "./appliance-command.ts";

/** The running registry lacks something that the release lists; each thing was shown. */
export class ImagesUnservedError extends Error {
  readonly code = "images_unserved";
  readonly hint =
    "run the same command again: it imports and links what is missing; if it stays so, the end of log/registry.log says more";
}

/** The appliance asked itself, found something and said so. */
const NOT_AS_IT_SHOULD_BE = 3;

/**
 * The closed world, asked of the registry that runs: nothing of the release may be missing when a job wants it.
 *
 * @throws ImagesUnservedError
 */
export async function checkImages(root: string, journal: Journal): Promise<void> {
  const answer = await applianceCommand(root, ["image", "check"], [0, NOT_AS_IT_SHOULD_BE]);
  const { images, unserved } = JSON.parse(answer) as { images: number; unserved: string[] };
  if (unserved.length === 0) {
    say(`  ${images} images are served`);
    return;
  }
  for (const problem of unserved) say(`  ✗ ${problem}`);
  // Started, and not done: the next run repeats them.
  for (const step of ["import", "registry"])
    journal.append({ kind: "step", step, state: "started" });
  throw new ImagesUnservedError(
    `the local registry does not serve the whole release: ${unserved.length} things are missing`,
  );
}
