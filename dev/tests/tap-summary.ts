/** What one raw TAP stream says: how many leaf assertions passed, were skipped or failed, and which ones failed. */
import { Parser, type Result } from "tap-parser";

export type TapFailure = {
  /** File, subtests and the assertion's own description, joined by " > ". */
  fullname: string;
  /** What tap said below it (source, wanted, found, stack), as it gives it; null when it said nothing. */
  diagnostics: unknown;
};

export type TapSummary = { passed: number; skipped: number; failures: readonly TapFailure[] };

const NOTHING: TapSummary = { passed: 0, skipped: 0, failures: [] };

/**
 * A subtest that only sums up what is below it isn't counted; one that fails by itself (a time-out, say) is a failure. No directive excuses what
 * failed, and a test that is yet to be written counts as one that failed.
 * @param files whose tests these are: one whose tests stand at the top, or several with a subtest for each, named as the file is
 * @returns file → what it says; of one that asserts nothing, nothing
 */
export function summarizeTap(text: string, files: readonly string[]): Map<string, TapSummary> {
  const results = Parser.parse(text, { flat: true })
    .filter(isAssertion)
    .map(([, result]) => named(result, files));
  const byFile = Map.groupBy(results, ({ file }) => file);
  return new Map(files.map((file) => [file, count(byFile.get(file) ?? [])]));
}

export function sumUp(summaries: Iterable<TapSummary>): TapSummary {
  return [...summaries].reduce(
    (sum, { passed, skipped, failures }) => ({
      passed: sum.passed + passed,
      skipped: sum.skipped + skipped,
      failures: [...sum.failures, ...failures],
    }),
    NOTHING,
  );
}

type Named = { file: string; fullname: string; result: Result };

function count(results: readonly Named[]): TapSummary {
  const failed = results.filter(({ result: { ok, todo } }) => !ok || todo !== false);
  const good = results.filter((each) => !failed.includes(each));
  const skipped = good.filter(({ result: { skip } }) => skip !== false).length;
  return {
    passed: good.length - skipped,
    skipped,
    failures: failed.map(({ fullname, result }) => ({ fullname, diagnostics: result.diag })),
  };
}

/** Where the stream of several files names none, the whole process failed: the first is blamed. */
function named(result: Result, files: readonly string[]): Named {
  const [first = ""] = files;
  const fullname = result.fullname;
  if (files.length === 1 && !fullname.startsWith(`${first} > `))
    return { file: first, fullname: `${first} > ${fullname}`, result };
  const file = files.find((each) => fullname === each || fullname.startsWith(`${each} > `));
  return file === undefined
    ? { file: first, fullname: `${first} > ${fullname}`, result }
    : { file, fullname, result };
}

function isAssertion(event: unknown): event is ["assert", Result] {
  return Array.isArray(event) && event[0] === "assert";
}
