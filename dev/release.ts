/** `npm run release -- --version X`: see HELP. It works on the tree that it is called in. */
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import {
  HELP,
  readReleaseOptions,
  type ReleaseOptions,
  ReleaseOptionsError,
} from "./release/options.ts";
import {
  BUNDLE_LOCK,
  CHANGELOG,
  NPM_LOCK,
  packageFiles,
  planRelease,
  type ReleasePlan,
} from "./release/plan-release.ts";
import { ReleaseRefusedError } from "./release/release-refused-error.ts";
import { readRooms } from "@resontech/house/read-rooms";

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const git = (...args: string[]): string =>
  execFileSync("git", args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function release({ version, isDry }: ReleaseOptions): void {
  const plan = planRelease(readTree(), version, new Date().toISOString().slice(0, 10));
  requireFitTree(plan);
  say(`${plan.from} → ${plan.to}`);
  for (const file of Object.keys(plan.files)) say(`  ${file}`);
  say(`\n${plan.notes}\n`);
  if (isDry) return say("nothing was changed (--dry-run)");
  for (const [file, text] of Object.entries(plan.files)) writeFileSync(file, text);
  git("add", "--", ...Object.keys(plan.files));
  git("commit", "--quiet", "--message", `Release ${plan.to}`);
  // Its lines may begin with `#`, which git else takes for comments.
  git(
    "tag",
    "--annotate",
    "--cleanup=verbatim",
    tagOf(plan),
    "--message",
    `Release ${plan.to}\n\n${plan.notes}\n`,
  );
  say(`committed and tagged ${tagOf(plan)}; nothing was pushed`);
}

function readTree(): Record<string, string> {
  const files = [...packageFiles(readRooms(".")), NPM_LOCK, BUNDLE_LOCK, CHANGELOG];
  return Object.fromEntries(files.map((file) => [file, readFileSync(file, "utf8")]));
}

/** @throws ReleaseRefusedError */
function requireFitTree(plan: ReleasePlan): void {
  const changes = git("status", "--porcelain").trimEnd();
  if (changes !== "")
    throw new ReleaseRefusedError(
      "tree_dirty",
      `there are changes without a commit:\n${changes}`,
      "commit them or put them away",
    );
  if (git("tag", "--list", tagOf(plan)).trim() !== "")
    throw new ReleaseRefusedError(
      "tag_exists",
      `there is a tag ${tagOf(plan)} already`,
      "say a higher version",
    );
}

function tagOf({ to }: ReleasePlan): string {
  return `v${to}`;
}

try {
  const options = readReleaseOptions(process.argv.slice(2));
  if (options.help) process.stdout.write(HELP);
  else release(options);
} catch (error) {
  if (error instanceof ReleaseOptionsError) {
    process.stderr.write(`${error.message}\n\n${HELP}`);
    process.exitCode = 2;
  } else if (error instanceof ReleaseRefusedError) {
    process.stderr.write(`${error.code}: ${error.message}\n  what to do: ${error.hint}\n`);
    process.exitCode = 3;
  } else {
    process.stderr.write(
      `${error instanceof Error ? error.message : String(error)}\n  what to do: read git's own words above; \`git status\` shows how far it came\n`,
    );
    process.exitCode = 1;
  }
}
