export type MemberProgress = { step: string | null; done: number | null; total: number | null };

/** Of a step whose size is known so many parts are told. */
const PARTS = 20;
/** Of one whose size is not: each so many bytes, layers or files. */
const AMOUNT = 64 * 1024 ** 2;

/** Whether people would see the difference. Agents report every second, and each member of a thousand that get ready. */
export function isProgressNews(
  before: MemberProgress,
  after: { step: string; done: number; total: number | null },
): boolean {
  return (
    before.step !== after.step ||
    before.total !== after.total ||
    partOf(before.done ?? 0, after.total) !== partOf(after.done, after.total)
  );
}

function partOf(done: number, total: number | null): number {
  if (total === null || total === 0) return Math.floor(done / AMOUNT);
  return Math.floor((Math.min(done, total) / total) * PARTS);
}
