/**
 * A file of real engines that failed beside others runs once more, alone. Who passes then is unsteady: named in every run's last lines, and a defect to
 * mend, but no reason to refuse a change that did not touch it. Why: docs/decisions/0064.
 */
import type { TapFailure, TapSummary } from "./tap-summary.ts";
import type { Tier } from "./tier.ts";

/** More than these at once are no coincidence. */
const MAX_FILES = 3;

export type Judged = Pick<TapSummary, "failures"> & {
  /** Failed beside others, passed alone. */
  unsteady: readonly TapFailure[];
};

/**
 * Files that get a second try; none where so many failed that chance does not explain it, or where a failure names no file.
 * @param files of the tier, as the run got them
 */
export function filesToTryAgain(
  tier: Tier,
  failures: readonly TapFailure[],
  files: readonly string[],
): string[] {
  // What only decides, decides the same again.
  if (tier === "unit") return [];
  const failed = new Set(failures.map((failure) => fileOf(failure, files)));
  return failed.has(null) || failed.size > MAX_FILES
    ? []
    : files.filter((file) => failed.has(file));
}

/** @param again of the files that ran twice; a run that ended badly and named no failure excuses nothing */
export function judgeSecondTry(
  first: TapSummary,
  again: TapSummary & { status: number },
  files: readonly string[],
): Judged {
  const isBroken = again.status !== 0 && again.failures.length === 0;
  const stillFailing = new Set(again.failures.map((failure) => fileOf(failure, files)));
  const isUnsteady = (failure: TapFailure): boolean =>
    !isBroken && again.passed > 0 && !stillFailing.has(fileOf(failure, files));
  return {
    failures: first.failures.filter((failure) => !isUnsteady(failure)),
    unsteady: first.failures.filter(isUnsteady),
  };
}

function fileOf({ fullname }: TapFailure, files: readonly string[]): string | null {
  return files.find((file) => fullname === file || fullname.startsWith(`${file} > `)) ?? null;
}
