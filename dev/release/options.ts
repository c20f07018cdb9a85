import { parseArgs } from "node:util";

export const HELP = `usage: npm run release -- --version VERSION [--dry-run]

Gives this tree a higher version: every package.json, both lock files, the heading of the CHANGELOG. Then it commits and tags.

  --version VERSION   such as 0.2.0 or 0.2.0-rc.1
  --dry-run           say what would change, and change nothing

  npm run release -- --version 0.2.0 --dry-run
  npm run release -- --version 0.2.0

Exit code 0: done; 1: git failed; 2: wrong arguments; 3: the tree is not fit, and nothing was changed.
docs/developer/releases.md has the steps before and after.
`;

export type ReleaseOptions = { help: boolean; version: string; isDry: boolean };

export class ReleaseOptionsError extends Error {
  readonly code = "release_options_wrong";
}

/** @throws ReleaseOptionsError */
export function readReleaseOptions(args: readonly string[]): ReleaseOptions {
  const { help = false, version = "", "dry-run": isDry = false } = parse(args);
  if (!help && version === "") throw new ReleaseOptionsError("--version is missing");
  return { help, version, isDry };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        version: { type: "string" },
        "dry-run": { type: "boolean" },
        help: { type: "boolean", short: "h" },
      },
    }).values;
  } catch (error) {
    throw new ReleaseOptionsError(error instanceof Error ? error.message : String(error));
  }
}
