/** Counts the leaf assertions of one TAP stream: those of subtests, not the line that sums a subtest up. */
export type TapCounts = { passed: number; failed: number; skipped: number };

/**
 * Reads raw TAP text. A line `ok`/`not ok` is a leaf unless it closes a subtest, which TAP 14 marks by an indented
 * block that ends with a plan one level deeper just before it.
 */
export function countTap(text: string): TapCounts {
  const counts: TapCounts = { passed: 0, failed: 0, skipped: 0 };
  let deepest = -1;
  for (const line of text.split("\n")) {
    const point = /^( *)(not ok|ok)\b(.*)$/.exec(line);
    if (!point) {
      const plan = /^( *)1\.\.\d+/.exec(line);
      if (plan) deepest = plan[1]?.length ?? 0;
      continue;
    }
    const [, indent = "", verdict, rest = ""] = point;
    const closesSubtest = deepest > indent.length;
    deepest = -1;
    const skipped = / # (skip|todo)/i.test(rest);
    if (closesSubtest && (verdict === "ok" || !skipped)) {
      // A failing subtest without a failing leaf (a time-out, say) must still count.
      if (verdict === "not ok" && counts.failed === 0) counts.failed += 1;
      continue;
    }
    if (skipped) counts.skipped += 1;
    else if (verdict === "ok") counts.passed += 1;
    else counts.failed += 1;
  }
  return counts;
}
